"""All benchmarks, or those that are named: `python -m benchmarks crawl memory`."""

import importlib
import pkgutil
import sys
import time
from pathlib import Path

# A module here that has nothing to say by itself: what others are measured on, or against.
SERVING = frozenset(("__main__", "spider", "web"))
OWN = ("benchmarks", "bitrawl")


def names() -> list[str]:
    return [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name not in SERVING]


def measure(name: str) -> bool:
    """False where it could not be."""
    began = time.perf_counter()
    try:
        importlib.import_module(f"benchmarks.{name}").main()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] in OWN:
            raise
        print(f"{name}: not measured, {error.name} is not here: pip install {error.name}")
        return False
    except SystemExit as error:
        if error.code:
            print(f"{name}: {error.code}")
        return not error.code
    finally:
        print(f"({time.perf_counter() - began:.0f} s)\n", flush=True)
    return True


def main() -> None:
    known = names()
    asked = sys.argv[1:] or known
    if unknown := [name for name in asked if name not in known]:
        sys.exit(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(known)}")
    sys.exit(sum(not measure(name) for name in asked))


if __name__ == "__main__":
    main()
