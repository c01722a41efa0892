"""A booted Debian in a folder: the service under a real systemd."""
import os
import shutil
import subprocess

# Runs inside as the last thing of the boot, writes `NAME VALUE` lines and switches the machine off.
TRY = r"""#!/bin/sh
exec >/var/tmp/result 2>/var/tmp/trace
set -x
systemd-run --quiet --unit=sim solvegate-sim --listen 127.0.0.1:8431 --solve-time 100ms
install -m 600 /dev/null /etc/solvegate/environment
cat >/etc/solvegate/environment <<END
CAPTCHAAI_API_KEY=00000000000000000000000000000000
SOLVEGATE_UPSTREAM_URL=http://127.0.0.1:8431
SOLVEGATE_POLL_FIRST=100ms
SOLVEGATE_POLL_INTERVAL=100ms
END
show() { systemctl show --value -p "$1" solvegate; }
ask() { solvegate solve -m turnstile -s "$1" -p https://example.com/; }
# await WORDS...: until they succeed, for half a minute.
await() {
    for i in $(seq 300); do "$@" && return 0; sleep 0.1; done
    return 1
}
has() { [ "$(show "$1")" = "$2" ]; }

systemctl --quiet enable --now solvegate.socket solvegate.service
echo start $? $(show ActiveState) $(show User)
ask first >/dev/null
echo solve $?

# The socket outlives an upgrade and restarts: four callers at a time wait for a moment, nobody is refused.
begin_calls() {
    callers=
    for i in 1 2 3 4; do
        while [ ! -e /var/tmp/enough ]; do ask first 2>&1 >/dev/null; echo asked; done >/var/tmp/caller-$i &
        callers="$callers $!"
    done
}
# end_calls NAME WORDS: how many ended with these words, and whether there were calls at all.
end_calls() {
    touch /var/tmp/enough
    wait $callers
    rm /var/tmp/enough
    [ $(cat /var/tmp/caller-* | grep -c asked) -ge 8 ]
    echo $1-asked $?
    echo $1 $(cat /var/tmp/caller-* | grep -c "$2")
    grep -h 'no gateway answers' /var/tmp/caller-* >&2
}
before=$(show MainPID)
begin_calls
dpkg --install /var/tmp/new/*.deb >/var/tmp/upgrade 2>&1
echo upgrade $? $(solvegate version) $(show ActiveState) $(systemctl is-active solvegate.socket)
[ "$(show MainPID)" != "$before" ]
echo restarted $?
sleep 2
# Here the old program ends, which may have accepted a call that it does not answer.
end_calls refused 'Could not connect'
begin_calls
for i in 1 2 3; do systemctl restart solvegate; done
end_calls unanswered 'no gateway answers'

systemctl kill --signal=KILL --kill-whom=main solvegate
await has NRestarts 1 && await has ActiveState active
echo killed $(show ActiveState) $(show NRestarts)

# A gateway whose loop hangs is ended by the watchdog and started again.
systemctl kill --signal=STOP --kill-whom=main solvegate
await has NRestarts 2 && await has ActiveState active
echo hung $(show ActiveState) $(show NRestarts)

# The same unit with another program tries what the sandbox forbids.
unit=$(show FragmentPath)
sed -e 's/^Type=.*/Type=oneshot/' -e '/^ExecReload=\|^Restart\|^Watchdog\|^EnvironmentFile=/d' \
    -e 's|^ExecStart=.*|ExecStart=/bin/sh /usr/local/bin/probe|' "$unit" >/etc/systemd/system/probe.service
systemctl start probe
echo probe $?
cat /var/lib/solvegate/probe

systemctl stop solvegate.socket solvegate
mv /etc/solvegate/solvegate.json /etc/solvegate/solvegate.json.good
echo '{' >/etc/solvegate/solvegate.json
systemctl start solvegate
await has ActiveState failed
sleep 3
echo broken $(show ActiveState) $(show ExecMainStatus) $(show NRestarts)

# Two gateways at one port: each is there while the other one is stopped or restarted, and nobody is refused.
sed -e '/"data_dir"/d' /etc/solvegate/solvegate.json.good >/etc/solvegate/solvegate.json
echo SOLVEGATE_STORE=redis://127.0.0.1:6379 >>/etc/solvegate/environment
systemctl reset-failed solvegate
systemctl start redis-server
redis-cli config set appendonly yes >/dev/null
redis-cli config set appendfsync always >/dev/null
systemctl start solvegate@1 solvegate@2
echo two $? $(systemctl is-active solvegate@1 solvegate@2)
# The gateways that answer at the port, by their instance; a connection meets any of them.
answering() { for i in $(seq 40); do solvegate nodes 2>/dev/null | sed -n "s/^\\* *$(hostname)-\\([0-9]\\) .*/\\1/p"; done | sort -u | tr -d '\n'; }
is_answered_by() { [ "$(answering)" = "$1" ]; }
await is_answered_by 12
echo both $(answering)
ask shared >/dev/null
echo shared-solve $?
for each in 1 2; do
    other=$((3 - each))
    systemctl stop solvegate@$each
    ask while-$each-is-away >/dev/null
    echo without-$each $? $(answering) $(systemctl is-active solvegate@$other)
    systemctl start solvegate@$each
    begin_calls
    systemctl restart solvegate@$each
    await is_answered_by 12
    end_calls refused-by-$each 'Could not connect'
    echo with-$each $(answering) $(systemctl show --value -p NRestarts solvegate@$other)
done
systemctl stop solvegate@1 solvegate@2
echo stopped $(systemctl is-active solvegate@1 solvegate@2)
sed -i '/SOLVEGATE_STORE/d' /etc/solvegate/environment

# Removing the package ends what runs.
cp /etc/solvegate/solvegate.json.good /etc/solvegate/solvegate.json
systemctl start solvegate.socket solvegate
dpkg --remove solvegate >/var/tmp/removal 2>&1
echo removed $? $(systemctl is-active solvegate.socket solvegate)
systemctl --no-block poweroff
"""
PROBE = r"""#!/bin/sh
try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name possible"; else echo "$name forbidden"; fi; }
{
    try write-state touch /var/lib/solvegate/written
    try write-etc touch /etc/solvegate/written
    try write-usr touch /usr/written
    try read-home ls /root
    try read-key cat /etc/solvegate/environment
    try mount mount -t tmpfs none /tmp
    try namespaces unshare --user true
    try other-processes test -e /proc/1/status
    try kernel-settings sh -c 'echo 1 >/proc/sys/kernel/printk'
    try devices test -e /dev/kmsg
    try set-user-bit sh -c 'cp /bin/true /var/lib/solvegate/true && chmod u+s /var/lib/solvegate/true'
} >/var/lib/solvegate/probe
"""
UNIT = """[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/usr/local/bin/try
"""
EXPECTED = """start 0 active solvegate
solve 0
upgrade 0 solvegate VERSION active active
restarted 0
refused-asked 0
refused 0
unanswered-asked 0
unanswered 0
killed active 1
hung active 2
probe 0
write-state possible
write-etc forbidden
write-usr forbidden
read-home forbidden
read-key forbidden
mount forbidden
namespaces forbidden
other-processes forbidden
kernel-settings forbidden
devices forbidden
set-user-bit forbidden
broken failed 78 0
two 0 active active
both 12
shared-solve 0
without-1 0 2 active
refused-by-1-asked 0
refused-by-1 0
with-1 12 0
without-2 0 1 active
refused-by-2-asked 0
refused-by-2 0
with-2 12 0
stopped inactive inactive
removed 0 inactive inactive
"""
BOOT_S = 300


def write(machine, name, text, mode=0o644):
    with open(machine.path(name), "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(machine.path(name), mode)


def boot_and_try(machine, packages):
    """Boots the folder, which upgrades to these packages and switches itself off; returns what the script inside found, and the
    end of its trace."""
    machine.apt("install", "systemd-sysv", "dbus", "redis-server")
    os.mkdir(machine.path("/var/tmp/new"))
    for path in packages:
        shutil.copy(path, machine.path("/var/tmp/new"))
    write(machine, "/usr/local/bin/try", TRY, 0o755)
    write(machine, "/usr/local/bin/probe", PROBE, 0o755)
    write(machine, "/etc/systemd/system/try.service", UNIT)
    wants = machine.path("/etc/systemd/system/default.target.wants")
    os.makedirs(wants, exist_ok=True)
    os.symlink("../try.service", os.path.join(wants, "try.service"))
    os.remove(machine.path("/usr/sbin/policy-rc.d"))
    machine.leave()
    try:
        subprocess.run(["systemd-nspawn", "--quiet", "--directory", machine.root, "--boot", "--private-network", "--register=no",
                        "--keep-unit", "--console=pipe"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=BOOT_S, check=False)
    finally:
        machine.enter()
    trace = machine.read("/var/tmp/trace") if machine.exists("/var/tmp/trace") else "it did not boot as far as the script"
    return (machine.read("/var/tmp/result") if machine.exists("/var/tmp/result") else ""), trace[-2000:]
