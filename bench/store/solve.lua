-- Each request is a new target, solved by the vendor at once: POST /v1/solves, held until it is solved.
-- Arguments: RUN, a word that makes this run's targets different from those of others. One line of JSON comes out.

local number = 0

function init(args)
    wrk.method = "POST"
    wrk.headers["Content-Type"] = "application/json"
    run = args[1]
end

function request()
    number = number + 1
    return wrk.format(nil, nil, nil, string.format(
        '{"method":"turnstile","sitekey":"SIM-FAST.%s-%d","pageurl":"https://example.com/","wait":30}', run, number))
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format('{"requests": %d, "seconds": %.6f, "p50_us": %d, "p99_us": %d, "errors": %d}\n',
        summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
