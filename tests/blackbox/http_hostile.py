"""Requests that proxies and servers have read differently: each must be refused and reach nobody.

(name, status, bytes); the published ones carry their CVE. CRLF is written out because it is the point.
"""
HOST = b"Host: x\r\n"
END = b"\r\n"
CHUNKED = b"POST /plain HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
# What an attacker would like to be taken for a request of its own.
HIDDEN = b"GET /plain?smuggled HTTP/1.1\r\nHost: x\r\n\r\n"


def get(lines=b"", line=b"GET /plain HTTP/1.1\r\n", host=HOST):
    return line + host + lines + END


def post(lines, body=b"", host=HOST):
    return b"POST /plain HTTP/1.1\r\n" + host + lines + END + body


FRAMING = [
    ("both lengths, length first", 400, post(b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\nG")),
    ("both lengths, coding first", 400, post(b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", b"8\r\nSMUGGLED\r\n0\r\n\r\n")),
    ("two equal lengths", 400, post(b"Content-Length: 2\r\nContent-Length: 2\r\n", b"ab")),
    ("two different lengths", 400, post(b"Content-Length: 2\r\nContent-Length: 50\r\n", b"ab")),
    ("a list of lengths", 400, post(b"Content-Length: 2, 2\r\n", b"ab")),
    ("a signed length", 400, post(b"Content-Length: +2\r\n", b"ab")),
    ("a negative length", 400, post(b"Content-Length: -1\r\n", b"ab")),
    ("a hexadecimal length", 400, post(b"Content-Length: 0x2\r\n", b"ab")),
    ("a broken length", 400, post(b"Content-Length: 2.0\r\n", b"ab")),
    ("an empty length", 400, post(b"Content-Length:\r\n", b"ab")),
    ("a length of words", 400, post(b"Content-Length: two\r\n", b"ab")),
    ("a length with a space inside", 400, post(b"Content-Length: 1 0\r\n", b"ab")),
    ("a length beyond 64 bits", 413, post(b"Content-Length: 18446744073709551618\r\n", b"ab")),
    ("a length of 64 bits", 413, post(b"Content-Length: 18446744073709551615\r\n", b"ab")),
    ("a space before the length's colon (CVE-2021-22959)", 400, post(b"Content-Length : 2\r\n", b"ab")),
    ("a space before a field's colon (CVE-2021-22959)", 400, get(b"X-Test : 1\r\n")),
    ("a tab before the coding's colon", 400, post(b"Transfer-Encoding\t: chunked\r\n", b"0\r\n\r\n")),
    ("a space before a folded length (CVE-2024-27982)", 400, post(b" Content-Length: 2\r\n", b"ab")),
    ("a space before the first field (CVE-2024-27982)", 400, get(host=b" Host: x\r\n")),
    ("a length behind a fold (CVE-2024-27982)", 400, post(b"X-Test: a\r\n Content-Length: 23\r\n", b"ab")),
    ("identity coding", 400, post(b"Transfer-Encoding: identity\r\n", b"ab")),
    ("a list that ends in chunked", 400, post(b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n")),
    ("a list that begins with chunked", 400, post(b"Transfer-Encoding: chunked, gzip\r\n", b"0\r\n\r\n")),
    ("chunked twice in a list", 400, post(b"Transfer-Encoding: chunked, chunked\r\n", b"0\r\n\r\n")),
    ("chunked twice in two fields", 400, post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", b"0\r\n\r\n")),
    ("chunked and identity (CVE-2022-32213)", 400, post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", b"0\r\n\r\n")),
    ("chunkedchunked (CVE-2022-32213)", 400, post(b"Transfer-Encoding: chunkedchunked\r\n", b"0\r\n\r\n")),
    ("xchunked", 400, post(b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n")),
    ("quoted chunked", 400, post(b"Transfer-Encoding: \"chunked\"\r\n", b"0\r\n\r\n")),
    ("chunked with a parameter", 400, post(b"Transfer-Encoding: chunked;q=1\r\n", b"0\r\n\r\n")),
    ("chunked with a comma behind", 400, post(b"Transfer-Encoding: chunked,\r\n", b"0\r\n\r\n")),
    ("an empty coding", 400, post(b"Transfer-Encoding:\r\n", b"ab")),
    ("chunked behind a vertical tab", 400, post(b"Transfer-Encoding: \x0bchunked\r\n", b"0\r\n\r\n")),
    ("chunked on the next line (CVE-2022-32215)", 400, post(b"Transfer-Encoding:\r\n chunked\r\n", b"0\r\n\r\n")),
    ("chunked and more on the next line (CVE-2022-32215)", 400, post(b"Transfer-Encoding: chunked\r\n , identity\r\n", b"1\r\na\r\n0\r\n\r\n")),
    ("chunked in HTTP/1.0", 400, b"POST /plain HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("an underscore is no dash but a folded dash is no field", 400, post(b"Transfer\r\n-Encoding: chunked\r\n", b"0\r\n\r\n")),
]

CHUNKS = [
    ("a chunk size of words", 400, CHUNKED + b"zz\r\nab\r\n0\r\n\r\n"),
    ("a chunk size with a prefix", 400, CHUNKED + b"0x2\r\nab\r\n0\r\n\r\n"),
    ("a signed chunk size", 400, CHUNKED + b"+2\r\nab\r\n0\r\n\r\n"),
    ("a negative chunk size", 400, CHUNKED + b"-2\r\nab\r\n0\r\n\r\n"),
    ("an empty chunk size", 400, CHUNKED + b"\r\nab\r\n0\r\n\r\n"),
    ("a chunk size beyond 64 bits", 413, CHUNKED + b"10000000000000002\r\nab\r\n0\r\n\r\n"),
    ("a space before the chunk size", 400, CHUNKED + b" 2\r\nab\r\n0\r\n\r\n"),
    ("a space behind the chunk size", 400, CHUNKED + b"2 \r\nab\r\n0\r\n\r\n"),
    ("a chunk size ended by LF", 400, CHUNKED + b"2\nab\r\n0\r\n\r\n"),
    ("a chunk size ended by CR", 400, CHUNKED + b"2\rab\r\n0\r\n\r\n"),
    ("a chunk longer than it said", 400, CHUNKED + b"2\r\nabcd\r\n0\r\n\r\n"),
    ("a chunk without its line end", 400, CHUNKED + b"2\r\nab0\r\n\r\n"),
    ("a chunk ended by LF", 400, CHUNKED + b"2\r\nab\n0\r\n\r\n"),
    ("a chunk extension ended by LF (CVE-2021-22960)", 400, CHUNKED + b"2;a\nab\r\n0\r\n\r\n"),
    ("a chunk extension with a hidden LF (CVE-2021-22960)", 400, CHUNKED + b"2;a=\"\nxx\r\nab\r\n0\r\n\r\n"),
    ("a chunk extension with NUL (CVE-2021-22960)", 400, CHUNKED + b"2;a=\x00\r\nab\r\n0\r\n\r\n"),
    ("a last chunk ended by LF", 400, CHUNKED + b"2\r\nab\r\n0\n\n"),
    ("a trailer ended by LF", 400, CHUNKED + b"2\r\nab\r\n0\r\nX: y\n\r\n"),
    ("a trailer with a space before its colon", 400, CHUNKED + b"2\r\nab\r\n0\r\nX : y\r\n\r\n"),
    ("more chunk extension than body", 400, CHUNKED + b"2;" + b"a" * 70000 + b"\r\nab\r\n0\r\n\r\n"),
    ("more zeros than body", 400, CHUNKED + b"0" * 70000 + b"2\r\nab\r\n0\r\n\r\n"),
    ("more trailers than body", 400, CHUNKED + b"0\r\n" + b"X: y\r\n" * 12000 + b"\r\n"),
]

LINES = [
    ("lines ended by LF (CVE-2022-32214)", 400, b"GET /plain HTTP/1.1\nHost: x\n\n"),
    ("a field ended by LF (CVE-2022-32214)", 400, get(b"X-Test: a\nTransfer-Encoding: chunked\r\n")),
    ("a field ended by CR", 400, get(b"X-Test: a\rTransfer-Encoding: chunked\r\n")),
    ("a field not ended by CR LF (CVE-2022-35256)", 400, get(b"X-Test: a\x0d\x0bTransfer-Encoding: chunked\r\n")),
    ("an empty value ended by CR (CVE-2023-30589)", 400, get(b"X-Abc: \rxTransfer-Encoding: chunked\r\n")),
    ("an empty value ended by CR, no space (CVE-2023-30589)", 400, get(b"X-Abc:\rxTransfer-Encoding: chunked\r\n")),
    ("a head ended by CR LF CR X (CVE-2025-23167)", 400, b"GET /plain HTTP/1.1\r\nHost: x\r\n\rX" + b"\r\n\r\n"),
    ("a head ended by LF", 400, b"GET /plain HTTP/1.1\r\nHost: x\r\n\n"),
    ("a request line ended by LF", 400, get(line=b"GET /plain HTTP/1.1\n")),
    ("a request line ended by CR", 400, get(line=b"GET /plain HTTP/1.1\r")),
    ("a folded field", 400, get(b"X-Test: a\r\n b\r\n")),
    ("a folded field with a tab", 400, get(b"X-Test: a\r\n\tb\r\n")),
    ("an empty line by LF before the request", 400, b"\n" + get()),
    ("an empty line by CR before the request", 400, b"\r" + get()),
    ("two empty lines before the request", 400, b"\r\n\r\n" + get()),
    ("an empty line by LF behind one by CR LF", 400, b"\r\n\n" + get()),
    ("NUL in a value", 400, get(b"X-Test: a\x00b\r\n")),
    ("NUL in a name", 400, get(b"X-\x00Test: a\r\n")),
    ("NUL in the target", 400, get(line=b"GET /plain\x00 HTTP/1.1\r\n")),
    ("a control in a value", 400, get(b"X-Test: a\x01b\r\n")),
    ("DEL in a value", 400, get(b"X-Test: a\x7fb\r\n")),
    ("a high byte in a value", 400, get(b"X-Test: caf\xe9\r\n")),
    ("a high byte in a known value", 400, get(b"Content-Type: text/\xc3\xa9\r\n")),
    ("a high byte in a name", 400, get(b"X-T\xe9st: a\r\n")),
    ("a high byte in the target", 400, get(line=b"GET /caf\xc3\xa9 HTTP/1.1\r\n")),
    ("a no-break space before the colon", 400, get(b"Content-Length\xa0: 5\r\n")),
    ("a field without a colon", 400, get(b"X-Test\r\n")),
    ("a field without a name", 400, get(b": a\r\n")),
    ("a field name with a space", 400, get(b"X Test: a\r\n")),
    ("a field name with a parenthesis", 400, get(b"X(Test: a\r\n")),
]

REQUEST = [
    ("no Host", 400, get(host=b"")),
    ("two Hosts", 400, get(b"Host: y\r\n")),
    ("two equal Hosts", 400, get(b"Host: x\r\n")),
    ("a list of Hosts", 400, get(host=b"Host: x, y\r\n")),
    ("a Host with a user", 400, get(host=b"Host: a@x\r\n")),
    ("a Host with a path", 400, get(host=b"Host: x/y\r\n")),
    ("a Host with a space", 400, get(host=b"Host: x y\r\n")),
    ("two keys", 400, get(b"Idempotency-Key: a\r\nIdempotency-Key: b\r\n")),
    ("two authorizations", 400, get(b"Authorization: Bearer a\r\nauthorization: Bearer b\r\n")),
    ("two content types", 400, get(b"Content-Type: a/b\r\nContent-Type: c/d\r\n")),
    ("HTTP/0.9 by saying nothing", 400, b"GET /plain\r\n\r\n"),
    ("HTTP/0.9 with fields", 400, get(line=b"GET /plain\r\n")),
    ("HTTP/0.9 by name", 400, get(line=b"GET /plain HTTP/0.9\r\n")),
    ("HTTP/1.2", 400, get(line=b"GET /plain HTTP/1.2\r\n")),
    ("HTTP/2.0", 400, get(line=b"GET /plain HTTP/2.0\r\n")),
    ("HTTP/2", 400, get(line=b"GET /plain HTTP/2\r\n")),
    ("HTTP/1.10", 400, get(line=b"GET /plain HTTP/1.10\r\n")),
    ("HTTP/11", 400, get(line=b"GET /plain HTTP/11\r\n")),
    ("lower-case http", 400, get(line=b"GET /plain http/1.1\r\n")),
    ("RTSP", 400, get(line=b"OPTIONS * RTSP/1.0\r\n")),
    ("ICE", 400, get(line=b"SOURCE /plain ICE/1.0\r\n")),
    ("a space behind the version", 400, get(line=b"GET /plain HTTP/1.1 \r\n")),
    ("two spaces before the target", 400, get(line=b"GET  /plain HTTP/1.1\r\n")),
    ("two spaces before the version", 400, get(line=b"GET /plain  HTTP/1.1\r\n")),
    ("a tab before the target", 400, get(line=b"GET\t/plain HTTP/1.1\r\n")),
    ("a space in the target", 400, get(line=b"GET /pl ain HTTP/1.1\r\n")),
    ("a space before the method", 400, get(line=b" GET /plain HTTP/1.1\r\n")),
    ("no target", 400, get(line=b"GET HTTP/1.1\r\n")),
    ("a relative target", 400, get(line=b"GET plain HTTP/1.1\r\n")),
    ("another scheme", 400, get(line=b"GET ftp://x/plain HTTP/1.1\r\n")),
    ("an unknown method", 400, get(line=b"HACK /plain HTTP/1.1\r\n")),
    ("a lower-case method", 400, get(line=b"get /plain HTTP/1.1\r\n")),
    ("CONNECT", 400, get(line=b"CONNECT x:443 HTTP/1.1\r\n")),
    ("CONNECT with a body", 400, b"CONNECT x:443 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"),
    ("the HTTP/2 preface", 400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"),
    ("TLS", 400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(64))),
    ("an unknown expectation", 417, get(b"Expect: 200-ok\r\n")),
    ("a reply", 400, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("a PROXY line", 400, b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n" + get()),
]

ALL = FRAMING + CHUNKS + LINES + REQUEST
