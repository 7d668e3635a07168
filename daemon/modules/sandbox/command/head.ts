/** Bytes kept of each channel. */
const HEAD_BYTES = 16 * 1024;

/** Keeps the first bytes of each channel, for the history. */
export class OutputHead {
  private readonly kept = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  private readonly room = { stdout: HEAD_BYTES, stderr: HEAD_BYTES };

  add(channel: 'stdout' | 'stderr', bytes: Uint8Array): void {
    if (this.room[channel] === 0) return;
    const part = bytes.slice(0, this.room[channel]);
    this.room[channel] -= part.length;
    this.kept[channel].push(part);
  }

  text(channel: 'stdout' | 'stderr'): string {
    return new TextDecoder().decode(Buffer.concat(this.kept[channel]));
  }
}
