// What all apps share: which article an address means, and its texts.
export const route = () => (location.hash.startsWith("#/") ? location.hash.slice(1) : location.pathname);
export const load = (path) => fetch(`/data${path === "/" ? "/home" : path}.json`).then((answer) => answer.json());
export const options = window.OPTIONS || {};
