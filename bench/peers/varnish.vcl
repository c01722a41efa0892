# Varnish: an answer made by itself (socket "answer"), and hits of its cache with grace and with requests for what is
# being fetched joined (its own way, always on). peers.py fills in what begins with a dollar sign.
vcl 4.1;

backend origin { .host = "127.0.0.1"; .port = "$origin_port"; }

# It holds what it is asked for, so that a crowd can gather; nobody is to give up meanwhile.
backend vendor {
    .host = "127.0.0.1";
    .port = "$vendor_port";
    .first_byte_timeout = 120s;
    .between_bytes_timeout = 120s;
}

sub vcl_recv {
    if (local.socket == "answer") {
        return (synth(200));
    }
    set req.backend_hint = origin;
    if (req.url ~ "^/held") {
        set req.backend_hint = vendor;
    }
    # Ours looks at no cookies either.
    return (hash);
}

sub vcl_synth {
    set resp.http.Content-Type = "text/plain";
    set resp.body = "$result";
    return (deliver);
}

sub vcl_backend_response {
    set beresp.ttl = 1h;
    # An old answer is good enough while a new one is fetched.
    set beresp.grace = 1h;
    # Whole answers: they are short, and streaming them to a crowd would only make them longer.
    set beresp.do_stream = false;
    return (deliver);
}
