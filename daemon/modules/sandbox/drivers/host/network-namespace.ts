import { closeSync, openSync } from 'node:fs';
import { enterNetwork } from './syscalls.ts';

/**
 * Does something that makes sockets in the network of another process, at once and without waiting: a socket stays
 * in the network in which it was made, and this thread is back in its own when this returns.
 * Errors: those of `work`, of opening the namespace, and SyscallError. @param pid this process's network when absent
 */
export function inNetworkOf<T>(pid: number | undefined, work: () => T): T {
  if (pid === undefined) return work();
  const home = openSync('/proc/thread-self/ns/net', 'r');
  const away = openSync(`/proc/${pid}/ns/net`, 'r');
  try {
    enterNetwork(away);
    try {
      return work();
    } finally {
      comeBack(home);
    }
  } finally {
    closeSync(away);
    closeSync(home);
  }
}

/** A daemon must never go on in another network: it would take that for its own. */
function comeBack(network: number): void {
  try {
    enterNetwork(network);
  } catch (error) {
    process.stderr.write(`svc cannot come back to its network: ${error}\n`);
    process.abort();
  }
}
