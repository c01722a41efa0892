// usage: go run solve.go ORDER SITEKEY PAGEURL   Prints a Turnstile token.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

var (
	errRefused   = errors.New("refused")     // the request or the key is wrong; asking again does not help
	errFailed    = errors.New("failed")      // the vendor could not solve it, also not when the gateway tried again
	errNotInTime = errors.New("not in time") // asking again later finds the same solve

	url         = env("SOLVEGATE_URL", "http://127.0.0.1:8430")
	key         = env("SOLVEGATE_KEY", "none")
	patience, _ = time.ParseDuration(env("SOLVEGATE_PATIENCE", "300") + "s")
	client      = http.Client{Timeout: 60 * time.Second}
)

func env(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// ask makes one call that waits for the end; pause is for before the next.
func ask(order string, task []byte) (status int, text []byte, pause time.Duration, err error) {
	request, err := http.NewRequest("POST", url+"/v1/solves", bytes.NewReader(task))
	if err != nil {
		return 0, nil, time.Second, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", order)
	request.Header.Set("Authorization", "Bearer "+key)
	reply, err := client.Do(request)
	if err != nil {
		return 0, nil, time.Second, err
	}
	defer reply.Body.Close()
	text, err = io.ReadAll(reply.Body)
	seconds, missing := strconv.Atoi(reply.Header.Get("Retry-After"))
	if missing != nil {
		seconds = 1
	}
	return reply.StatusCode, text, time.Duration(seconds) * time.Second, err
}

// solve asks until there is an end. The same order finds the solve that the first call started: it is paid for once.
func solve(order string, task map[string]any) (string, error) {
	task["wait"] = 50
	body, err := json.Marshal(task)
	if err != nil {
		return "", err
	}
	for end := time.Now().Add(patience); ; {
		status, text, pause, err := ask(order, body)
		switch {
		case err != nil: // connection lost: ask again
			text = []byte(err.Error())
		case status == 200:
			var solved struct{ Solution string }
			err = json.Unmarshal(text, &solved)
			return solved.Solution, err
		case status == 202 || status == 429 || status == 503: // still solving, come again later
		case status >= 500:
			return "", fmt.Errorf("%w: %s", errFailed, text)
		default:
			return "", fmt.Errorf("%w: %s", errRefused, text)
		}
		if time.Now().Add(pause).After(end) {
			return "", fmt.Errorf("%w: %s", errNotInTime, text)
		}
		time.Sleep(pause)
	}
}

func main() {
	solution, err := solve(os.Args[1], map[string]any{"method": "turnstile", "sitekey": os.Args[2], "pageurl": os.Args[3]})
	if err == nil {
		fmt.Println(solution)
		return
	}
	fmt.Fprintln(os.Stderr, err)
	switch {
	case errors.Is(err, errRefused):
		os.Exit(65)
	case errors.Is(err, errNotInTime):
		os.Exit(75)
	}
	os.Exit(1)
}
