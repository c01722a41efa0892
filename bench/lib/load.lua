-- What wrk sends and what it prints. Arguments: METHOD KEY BODY DEPTH TYPE; one line of JSON comes out.
-- Without a global `request` wrk formats the request once, so that Lua costs nothing while it measures.

function init(args)
    wrk.method = args[1]
    if args[2] ~= "" then wrk.headers["Authorization"] = "Bearer " .. args[2] end
    if args[3] ~= "" then
        wrk.body = args[3]
        wrk.headers["Content-Type"] = args[5]
    end
    local depth = tonumber(args[4])
    if depth > 1 then
        local batch = string.rep(wrk.format(), depth)
        request = function() return batch end
    end
end

function done(summary, latency)
    local errors = summary.errors
    local percentiles = {}
    for _, percent in ipairs({50, 75, 90, 95, 99, 99.9}) do
        percentiles[#percentiles + 1] = string.format("[%g, %d]", percent, latency:percentile(percent))
    end
    io.write(string.format(
        '{"requests": %d, "seconds": %.6f, "bytes": %d, "p50_us": %d, "p99_us": %d, "percentiles_us": [%s], "errors": %d}\n',
        summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50), latency:percentile(99),
        table.concat(percentiles, ", "),
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
