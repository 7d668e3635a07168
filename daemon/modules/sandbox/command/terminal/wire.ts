import { rfc3339 } from '../../../../../src/kit/time.ts';
import type { TerminalHub } from './hub.ts';

/** A terminal as it is answered (TerminalInfo). */
export function toTerminal({ row, size, controller, viewers, ring }: TerminalHub) {
  return {
    id: row.id,
    command: row.command,
    createdAt: rfc3339(row.createdAt),
    ...size,
    attached: controller !== undefined,
    viewers,
    offset: String(ring.end),
    replayFrom: String(ring.start),
  };
}
