import { type Block, overlaps, parseBlock } from './address.ts';

/** Addresses of one subnet: 4,093 boxes beside the bridge. */
const PREFIX = 20;
const SIZE = 2 ** (32 - PREFIX);

/** Where subnets are looked for: private ranges, those that home and office networks use least first. */
const POOLS = ['10.128.0.0/9', '172.20.0.0/14', '100.96.0.0/11'].map((text) => parseBlock(text) as Block);

/** How many boxes can have an address. The first address is the bridge's, the last one is the broadcast. */
export const ADDRESSES = SIZE - 3;

/**
 * A private subnet that overlaps none of the taken blocks; undefined when there is none. The search begins
 * at a place that depends on the instance, so that instances on one host do not meet.
 */
export function chooseSubnet(instance: string, taken: readonly Block[]): Block | undefined {
  for (const pool of POOLS) {
    const count = 2 ** (PREFIX - pool.prefix);
    const start = Number(Bun.hash.wyhash(instance) % BigInt(count));
    for (let i = 0; i < count; i++) {
      const block = { base: pool.base + ((start + i) % count) * SIZE, prefix: PREFIX };
      if (!taken.some((other) => overlaps(block, other))) return block;
    }
  }
  return undefined;
}

/** The address of the bridge, which is the gateway of boxes. */
export function gatewayOf(subnet: Block): number {
  return subnet.base + 1;
}

/** The address of a box from its place, counted from 0. */
export function addressOf(subnet: Block, place: number): number {
  return subnet.base + 2 + place;
}
