WARC/1.0
WARC-Type: metadata
WARC-Target-URI: http://a.org/
Content-Type: application/json
Content-Length: 193

{"Envelope":{"Payload-Metadata":{"HTTP-Response-Metadata":{"HTML-Metadata":{"Links":[{"path":"A@/href","url":"/x","text":"café"}]}}},"WARC-Header-Metadata":{"WARC-Target-URI":"http://a.org/"}}}

