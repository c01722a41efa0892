#!/bin/bash
# usage: solve.sh ORDER SITEKEY PAGEURL   Prints a Turnstile token. Needs curl 7.84 and jq.
url=${SOLVEGATE_URL:-http://127.0.0.1:8430}
end=$((SECONDS + ${SOLVEGATE_PATIENCE:-300}))
task=$(jq -n --arg sitekey "$2" --arg pageurl "$3" '{method: "turnstile", $sitekey, $pageurl, wait: 50}')
reply=$(mktemp) && trap 'rm -f "$reply"' EXIT

# One call that waits for the end: its status, and the seconds to pause before the next. The key is no argument of curl's,
# because every user of the machine can read those.
ask() { # ORDER
    curl -sS --max-time 60 --json "$task" -H "Idempotency-Key: $1" -H @<(echo "Authorization: Bearer ${SOLVEGATE_KEY:-none}") \
        -o "$reply" -w '%{http_code} %header{retry-after}' "$url/v1/solves"
}

give_up() { # EXIT-CODE WORD
    echo "$2: $(cat "$reply")" >&2
    exit "$1"
}

# The same order finds the solve that the first call started: it is paid for once.
while :; do
    said=$(ask "$1") || said=lost
    read -r status pause <<<"$said"
    case $status in
    200) jq -r .solution "$reply" && exit ;;
    202 | 429 | 503 | lost) ;; # still solving, come again later, connection lost
    5*) give_up 1 Failed ;;    # the vendor could not solve it, also not when the gateway tried again
    *) give_up 65 Refused ;;   # the request or the key is wrong; asking again does not help
    esac
    ((SECONDS + ${pause:-1} <= end)) || give_up 75 NotInTime
    sleep "${pause:-1}"
done
