import type { SocketWriter } from '../../../../http/route.ts';

/** Input that waits for the process: above HIGH the peer is held back, until it falls below LOW. */
const HIGH_WATER = 1024 * 1024;
const LOW_WATER = 256 * 1024;
/** What was read before the peer was held back fits in here; a peer that sends more is cut off. */
const MAX_WAITING_INPUT = 16 * 1024 * 1024;

/** Hands what a peer types to a process, no faster than that reads. */
export class SocketInput {
  private waiting = 0;

  constructor(
    private readonly socket: SocketWriter,
    private readonly write: (bytes: Uint8Array) => Promise<void>,
  ) {}

  take(bytes: Uint8Array): void {
    this.waiting += bytes.length;
    if (this.waiting > MAX_WAITING_INPUT) {
      this.socket.close(1009, 'more input than the command reads');
      return;
    }
    if (this.waiting > HIGH_WATER) this.socket.pause();
    const taken = () => {
      this.waiting -= bytes.length;
      if (this.waiting <= LOW_WATER) this.socket.resume();
    };
    void this.write(bytes).then(taken, taken);
  }
}
