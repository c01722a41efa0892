#!/usr/bin/env ruby
# usage: solve.rb ORDER SITEKEY PAGEURL   Prints a Turnstile token.
require 'json'
require 'net/http'

TARGET = URI(ENV.fetch('SOLVEGATE_URL', 'http://127.0.0.1:8430') + '/v1/solves')
KEY = ENV.fetch('SOLVEGATE_KEY', 'none')
PATIENCE = ENV.fetch('SOLVEGATE_PATIENCE', '300').to_f

class Refused < StandardError; end   # the request or the key is wrong; asking again does not help
class Failed < StandardError; end    # the vendor could not solve it, also not when the gateway tried again
class NotInTime < StandardError; end # asking again later finds the same solve

# One call that waits for the end: status, solution or problem, seconds to pause before the next.
def ask(order, task)
  headers = { 'Content-Type' => 'application/json', 'Idempotency-Key' => order, 'Authorization' => "Bearer #{KEY}" }
  http = Net::HTTP.new(TARGET.host, TARGET.port)
  http.use_ssl = TARGET.scheme == 'https'
  http.read_timeout = 60
  reply = http.post(TARGET.path, JSON.generate(task.merge(wait: 50)), headers)
  text = reply.code == '200' ? JSON.parse(reply.body)['solution'] : reply.body
  [reply.code.to_i, text, (reply['Retry-After'] || 1).to_i]
rescue SystemCallError, IOError, SocketError, Timeout::Error, JSON::ParserError => e
  [0, e.message, 1]
end

# Asks until there is an end. The same order finds the solve that the first call started: it is paid for once.
def solve(order, task)
  give_up = Time.now + PATIENCE
  loop do
    status, text, pause = ask(order, task)
    return text if status == 200
    unless [0, 202, 429, 503].include?(status) # connection lost, still solving, come again later
      raise status >= 500 ? Failed : Refused, text
    end
    raise NotInTime, text if Time.now + pause > give_up
    sleep pause
  end
end

begin
  puts solve(ARGV[0], { method: 'turnstile', sitekey: ARGV[1], pageurl: ARGV[2] })
rescue Refused, Failed, NotInTime => e
  warn "#{e.class}: #{e.message}"
  exit({ Failed => 1, Refused => 65, NotInTime => 75 }[e.class])
end
