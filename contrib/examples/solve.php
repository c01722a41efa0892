#!/usr/bin/env php
<?php
// usage: solve.php ORDER SITEKEY PAGEURL   Prints a Turnstile token.
declare(strict_types=1);

/** The request or the key is wrong; asking again does not help. */
class Refused extends RuntimeException {}
/** The vendor could not solve it, also not when the gateway tried again. */
class Failed extends RuntimeException {}
/** There was no end in time; asking again later finds the same solve. */
class NotInTime extends RuntimeException {}

/** One call that waits for the end: status, reply, seconds to pause before the next. */
function ask(string $order, array $task): array
{
    $pause = 1;
    $call = curl_init((getenv('SOLVEGATE_URL') ?: 'http://127.0.0.1:8430') . '/v1/solves');
    curl_setopt_array($call, [
        CURLOPT_POSTFIELDS => json_encode($task + ['wait' => 50]),
        CURLOPT_HTTPHEADER => ['Content-Type: application/json', "Idempotency-Key: $order",
            'Authorization: Bearer ' . (getenv('SOLVEGATE_KEY') ?: 'none')],
        CURLOPT_TIMEOUT => 60,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_HEADERFUNCTION => function ($call, string $line) use (&$pause): int {
            if (stripos($line, 'Retry-After:') === 0) {
                $pause = (int) substr($line, 12);
            }
            return strlen($line);
        },
    ]);
    $text = curl_exec($call);
    return $text === false ? [0, curl_error($call), 1] : [curl_getinfo($call, CURLINFO_RESPONSE_CODE), $text, $pause];
}

/** Asks until there is an end. The same order finds the solve that the first call started: it is paid for once. */
function solve(string $order, array $task): string
{
    $end = microtime(true) + (float) (getenv('SOLVEGATE_PATIENCE') ?: 300);
    for (;;) {
        [$status, $text, $pause] = ask($order, $task);
        if ($status === 200) {
            return json_decode($text)->solution;
        }
        if (!in_array($status, [0, 202, 429, 503])) { // connection lost, still solving, come again later
            throw $status >= 500 ? new Failed($text, 1) : new Refused($text, 65);
        }
        if (microtime(true) + $pause > $end) {
            throw new NotInTime($text, 75);
        }
        sleep($pause);
    }
}

try {
    echo solve($argv[1], ['method' => 'turnstile', 'sitekey' => $argv[2], 'pageurl' => $argv[3]]), "\n";
} catch (RuntimeException $problem) {
    fwrite(STDERR, get_class($problem) . ': ' . $problem->getMessage() . "\n");
    exit($problem->getCode());
}
