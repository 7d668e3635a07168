/** A block of IPv4 addresses: the first one as a number, and the length of its prefix. */
export interface Block {
  readonly base: number;
  readonly prefix: number;
}

/** Reads `10.0.0.0/8`, or a single address; undefined when it is neither. */
export function parseBlock(text: string): Block | undefined {
  const [address = '', prefix = '32', ...rest] = text.split('/');
  const base = parseAddress(address);
  if (base === undefined || rest.length > 0 || !/^\d{1,2}$/.test(prefix) || Number(prefix) > 32)
    return undefined;
  return { base: first(base, Number(prefix)), prefix: Number(prefix) };
}

/** Reads `192.0.2.1` as a number; undefined when it is no IPv4 address. */
export function parseAddress(text: string): number | undefined {
  if (!/^(\d{1,3}\.){3}\d{1,3}$/.test(text)) return undefined;
  const bytes = text.split('.').map(Number);
  if (bytes.some((byte) => byte > 255)) return undefined;
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

/** `192.0.2.1` */
export function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

/** `10.0.0.0/8` */
export function formatBlock({ base, prefix }: Block): string {
  return `${formatAddress(base)}/${prefix}`;
}

/** Whether two blocks have an address in common. */
export function overlaps(a: Block, b: Block): boolean {
  const prefix = Math.min(a.prefix, b.prefix);
  return first(a.base, prefix) === first(b.base, prefix);
}

function first(base: number, prefix: number): number {
  const size = 2 ** (32 - prefix);
  return Math.floor(base / size) * size;
}
