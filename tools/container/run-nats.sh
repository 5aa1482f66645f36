#!/bin/sh
# Runs nats-server with the options that follow the name of a file, and reloads its configuration when that file changes: the
# scheduler writes the accounts of workers there. Forwards the signals that end or reload the server.
#
#   run-nats.sh FILE nats-server -c nats.conf
file=$1
shift

"$@" &
server=$!
for signal in HUP INT TERM QUIT USR2; do trap "kill -$signal $server" $signal; done

state() { ls -lin "$file" 2>/dev/null && cksum "$file" 2>/dev/null; }
(
  last=$(state)
  while sleep 0.3; do
    kill -0 $server 2>/dev/null || exit
    now=$(state)
    [ "$now" = "$last" ] && continue
    last=$now
    kill -HUP $server
    # Version 2.9 forwards what a new account publishes only from the second reload.
    sleep 0.3
    kill -HUP $server
  done
) &
watch=$!

# A trapped signal ends one wait, not the server.
while kill -0 $server 2>/dev/null; do
  wait $server
  code=$?
done
kill $watch 2>/dev/null
exit "$code"
