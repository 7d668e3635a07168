import { readText } from './files.ts';

/** Bits of the capabilities that the driver asks for (capabilities(7)). */
const BITS = { CAP_SYS_ADMIN: 21n, CAP_SYS_RESOURCE: 24n } as const;

/** Whether the daemon has a capability. */
export function hasCapability(name: keyof typeof BITS): boolean {
  const mask = /^CapEff:\s*(\w+)/m.exec(readText('/proc/self/status') ?? '')?.[1] ?? '0';
  return (BigInt(`0x${mask}`) & (1n << BITS[name])) !== 0n;
}
