/* The HTTP statuses that we send, with their reason phrases (RFC 9110 15). */
#ifndef SOLVEGATE_PROTO_HTTP_STATUS_H
#define SOLVEGATE_PROTO_HTTP_STATUS_H

#define HTTP_STATUS_LIST(X)                   \
    X(200, "OK")                              \
    X(201, "Created")                         \
    X(202, "Accepted")                        \
    X(204, "No Content")                      \
    X(302, "Found")                           \
    X(303, "See Other")                       \
    X(304, "Not Modified")                    \
    X(400, "Bad Request")                     \
    X(401, "Unauthorized")                    \
    X(402, "Payment Required")                \
    X(403, "Forbidden")                       \
    X(404, "Not Found")                       \
    X(405, "Method Not Allowed")              \
    X(406, "Not Acceptable")                  \
    X(408, "Request Timeout")                 \
    X(409, "Conflict")                        \
    X(410, "Gone")                            \
    X(411, "Length Required")                 \
    X(413, "Content Too Large")               \
    X(414, "URI Too Long")                    \
    X(415, "Unsupported Media Type")          \
    X(417, "Expectation Failed")              \
    X(422, "Unprocessable Content")           \
    X(429, "Too Many Requests")               \
    X(431, "Request Header Fields Too Large") \
    X(500, "Internal Server Error")           \
    X(501, "Not Implemented")                 \
    X(502, "Bad Gateway")                     \
    X(503, "Service Unavailable")             \
    X(504, "Gateway Timeout")                 \
    X(505, "HTTP Version Not Supported")

/* "Error" for a status that is not in the list. */
const char *http_status_text(unsigned status);

#endif
