import type { NetworkPolicy } from '../driver.ts';
import { type Block, overlaps, parseBlock } from './address.ts';

/** The policy of a mode alone. */
export function policyOf(mode: NetworkPolicy['mode']): NetworkPolicy {
  return { mode, allowCidrs: [], allowHosts: [] };
}

/** A policy from a record, also of an older version, which knew two words. What cannot be read denies. */
export function readPolicy(kept: unknown): NetworkPolicy {
  if (kept === 'allow') return policyOf('allow');
  if (typeof kept !== 'object' || kept === null) return policyOf('deny');
  const { mode, allowCidrs, allowHosts } = kept as Partial<NetworkPolicy>;
  return {
    mode: mode === 'allow' || mode === 'whitelist' ? mode : 'deny',
    allowCidrs: allowCidrs ?? [],
    allowHosts: allowHosts ?? [],
  };
}

/** Whether two policies say the same. */
export function isSamePolicy(a: NetworkPolicy, b: NetworkPolicy): boolean {
  const words = ({ mode, allowCidrs, allowHosts }: NetworkPolicy) =>
    JSON.stringify([mode, [...allowCidrs].sort(), [...allowHosts].sort()]);
  return words(a) === words(b);
}

/** Whether nothing at all is reached: such a box needs no way out. */
export function isSealed({ mode, allowCidrs }: NetworkPolicy): boolean {
  return mode === 'deny' && allowCidrs.length === 0;
}

/** Blocks in full, none of them inside another one: sets of the kernel refuse those. */
export function blocksOf(cidrs: readonly string[]): Block[] {
  const blocks = cidrs.flatMap((text) => parseBlock(text) ?? []).sort((a, b) => a.prefix - b.prefix);
  return blocks.filter((block, i) => !blocks.slice(0, i).some((wider) => overlaps(wider, block)));
}
