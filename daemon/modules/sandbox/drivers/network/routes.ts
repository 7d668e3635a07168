import { readText } from '../host/files.ts';
import type { Block } from './address.ts';

/** A route of the host. */
export interface Route {
  readonly device: string;
  readonly block: Block;
  /** Reached without a gateway: a network that the host itself is in. */
  readonly connected: boolean;
}

const FLAG_GATEWAY = 0x2;

/** The IPv4 routes of the host's network namespace, without the default route. */
export function readRoutes(table = readText('/proc/self/net/route') ?? ''): Route[] {
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length >= 8)
    .map(([device = '', destination = '', , flags = '', , , , mask = '']) => ({
      device,
      block: { base: fromHostOrder(destination), prefix: bits(fromHostOrder(mask)) },
      connected: (Number.parseInt(flags, 16) & FLAG_GATEWAY) === 0,
    }))
    .filter(({ block }) => block.prefix > 0);
}

/** The kernel prints addresses as little-endian hexadecimal numbers. */
function fromHostOrder(hex: string): number {
  const bytes = hex.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? [];
  return bytes.reverse().reduce((value, byte) => value * 256 + byte, 0);
}

function bits(mask: number): number {
  return mask.toString(2).replaceAll('0', '').length;
}
