import { run } from '../host/run.ts';

/** Chains of the host, not of ours, that drop forwarded packets that they do not know: `ip filter FORWARD`. */
export async function foreignDrops(own: string): Promise<string[]> {
  return parseDrops(await run(['nft', 'list', 'chains']).catch(() => ''), own);
}

/** Reads what `nft list chains` prints. */
export function parseDrops(text: string, own: string): string[] {
  const found: string[] = [];
  let table = '';
  let chain = '';
  for (const line of text.split('\n')) {
    table = /^table (\S+ \S+) \{/.exec(line)?.[1] ?? table;
    chain = /^\s+chain (\S+) \{/.exec(line)?.[1] ?? chain;
    if (/hook forward\b.*policy drop/.test(line) && table !== `inet ${own}`) found.push(`${table} ${chain}`);
  }
  return found;
}
