# What a person does in a container, without network. It runs in /bin/sh there.
try() {
  name=$1
  shift
  cd "$(mktemp -d /tmp/work.XXXXXX)" || exit
  if said=$("$@" 2>&1 </dev/null); then
    echo "ok $name"
  else
    echo "failed $name: $(echo "$said" | tr '\n' ' ')"
  fi
}

loopback() {
  ethos-sandbox run --net loopback -- sh -c 'echo hello > index.html; busybox httpd -p 127.0.0.1:8000; busybox wget -q -O- http://127.0.0.1:8000/ | grep hello'
}

publish() {
  echo hello > index.html
  port=$((18080 + $(id -u))) # others may have the same network
  ethos-sandbox run --publish $port:8000 --timeout 60s -- sh -c 'busybox httpd -p 127.0.0.1:8000; while ! test -e done; do sleep 0.1; done' &
  for _ in $(seq 100); do
    curl -sS http://127.0.0.1:$port/ > got && break
    sleep 0.1
  done
  touch done
  wait $!
  grep hello got
}

refused() { # the name is not allowed, and nothing answers in the container's network
  ! ethos-sandbox run --allow-domain allowed.example -- sh -c 'touch ran; curl -sS -m 5 http://refused.example/' > said 2>&1
  cat said
  test -e ran && grep refused.example said
}

session() {
  ethos-sandbox session start --plain-git --name days || return
  ethos-sandbox run --session days -- sh -c 'echo kept > file' && ethos-sandbox run --session days -- grep kept file
  status=$?
  ethos-sandbox session end days
  return $status
}

memory() { # the limit ends what goes over it
  ethos-sandbox run --memory 64M --pids 64 -- true || return
  ethos-sandbox run --memory 64M -- sh -c '(head -c 300M /dev/zero; sleep 30) | tail -c 300M > /dev/null; touch ended'
  ! test -e ended
}

pipe() {
  git init -q .
  ethos-facts -- sh -c 'echo through the pipe > file' | ethos-decide | ethos-sandbox | ethos-trace && test -e file
}

shell() {
  git init -q .
  ethos-sandbox shell -c 'git status --short && echo shell > file' && test -e file
}

processes() { ethos-sandbox run -- test -e /proc/self/status; }

outside() { # a file of the container that nobody declared
  secret=$(mktemp -d /tmp/outside.XXXXXX)/secret
  echo secret > "$secret"
  ! ethos-sandbox run -- cat "$secret"
}

nothing() { ethos-sandbox run --backend landlock -- sh -c 'echo x > file' && test -e file; }

run() { ethos-sandbox run -- sh -c 'echo x > file' && test -e file; }

try probe ethos-sandbox probe
try run run
try loopback loopback
try outside outside
try refused refused
try publish publish
try session session
try memory memory
try pipe pipe
try shell shell
try landlock nothing
try processes processes
try whole ethos-sandbox run --require mount -- true
try view ethos-sandbox run --mode verify -- true
