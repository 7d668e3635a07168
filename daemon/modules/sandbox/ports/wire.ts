import type { DetectedPort, SandboxPortMapping } from '../../../../src/api/sandbox/ports.ts';
import type { Value } from '../../../../src/api/schema.ts';
import { rfc3339 } from '../../../../src/kit/time.ts';
import type { Detected } from './detect.ts';
import type { Mapping } from './service.ts';

/** A port that has an address. */
export function toMapping({ row, sandbox, subdomain, url }: Mapping): Value<typeof SandboxPortMapping> {
  return {
    id: String(row.id),
    sandboxId: row.sandboxId,
    port: row.port,
    protocol: row.protocol,
    subdomain,
    url,
    wakeCommand: row.wakeCommand ?? undefined,
    status: sandbox.state === 'running' ? 'active' : 'inactive',
    createdAt: rfc3339(row.createdAt),
  };
}

/** A port that something listens on. */
export function toDetected(
  { listener, pid, process }: Detected,
  exposed: ReadonlySet<number>,
): Value<typeof DetectedPort> {
  return {
    port: listener.port,
    protocol: listener.protocol,
    address: addressText(listener.octets),
    pid,
    process,
    isExposed: exposed.has(listener.port),
  };
}

/** An address as people write it (RFC 5952 for IPv6). */
export function addressText(octets: Uint8Array): string {
  if (octets.length === 4) return octets.join('.');
  const view = new DataView(octets.buffer, octets.byteOffset);
  const groups = Array.from({ length: 8 }, (_, i) => view.getUint16(i * 2).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
