# The first process below the container's init, as root of the box: makes the user, its home and the
# folders, says `ready`, sleeps. $1: the work folder.
# Only what POSIX sh builds in, plus mkdir, chmod, chown and sleep: a BusyBox image is enough.
umask 022
own() {
  [ -d "$1" ] || mkdir -p "$1" || exit 1
  chown -h 1000:1000 "$1" || exit 1
}
lists_user() {
  while IFS=: read -r name secret number rest; do
    [ "$number" = 1000 ] && return 0
  done <"$1"
  return 1
}
[ -s /etc/passwd ] || echo 'root:x:0:0:root:/root:/bin/sh' >/etc/passwd || exit 1
[ -s /etc/group ] || echo 'root:x:0:' >/etc/group || exit 1
shell=/bin/sh
[ -x /bin/bash ] && shell=/bin/bash
lists_user /etc/passwd || echo "svc:x:1000:1000::/home/svc:$shell" >>/etc/passwd || exit 1
lists_user /etc/group || echo 'svc:x:1000:' >>/etc/group || exit 1
own /home/svc
own /workspace
[ -d "$1" ] || own "$1"
[ -d /tmp ] || { mkdir -p /tmp && chmod 1777 /tmp; } || exit 1
echo ready
exec sleep 2147483647
