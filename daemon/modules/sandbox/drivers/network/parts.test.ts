import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { findProgram } from '../host/run.ts';
import { type Block, formatAddress, formatBlock, overlaps, parseAddress, parseBlock } from './address.ts';
import { parseDrops } from './firewall.ts';
import { Leases } from './leases.ts';
import { hostNameServers, nameServers, parseServer } from './resolvers.ts';
import { readRoutes } from './routes.ts';
import { boxLines, forgottenLines, goneLines, ruleset } from './ruleset.ts';
import { ADDRESSES, addressOf, chooseSubnet, gatewayOf } from './subnet.ts';

const block = (text: string): Block => {
  const parsed = parseBlock(text);
  if (!parsed) throw new Error(text);
  return parsed;
};

describe('an address', () => {
  test('is read and written', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, prefix) => {
        expect(formatAddress(parseAddress(address) ?? -1)).toBe(address);
        const { base } = block(`${address}/${prefix}`);
        expect(formatBlock(block(formatBlock({ base, prefix })))).toBe(formatBlock({ base, prefix }));
        expect(overlaps(block(`${address}/${prefix}`), block(address))).toBe(true);
      }),
    );
  });

  test.each(['1.2.3', '1.2.3.256', 'a.b.c.d', '1.2.3.4/33', '1.2.3.4/x', '1.2.3.4/8/8', '::1'])(
    '%s is none',
    (text) => {
      expect(parseBlock(text)).toBeUndefined();
    },
  );

  test('overlaps in both directions', () => {
    expect(overlaps(block('10.0.0.0/8'), block('10.200.16.0/20'))).toBe(true);
    expect(overlaps(block('10.200.16.0/20'), block('10.0.0.0/8'))).toBe(true);
    expect(overlaps(block('10.200.16.0/20'), block('10.200.32.0/20'))).toBe(false);
  });
});

describe('a subnet', () => {
  test('is private, keeps clear of what is taken, and holds every place', () => {
    const blocks = fc.array(
      fc.tuple(fc.ipV4(), fc.integer({ min: 4, max: 30 })).map(([a, p]) => block(`${a}/${p}`)),
    );
    fc.assert(
      fc.property(fc.string(), blocks, (instance, taken) => {
        const subnet = chooseSubnet(instance, taken);
        if (!subnet) return;
        expect(taken.some((other) => overlaps(other, subnet))).toBe(false);
        const homes = ['10.0.0.0/8', '172.16.0.0/12', '100.64.0.0/10'].map(block);
        expect(homes.some((home) => overlaps(home, subnet))).toBe(true);
        const last = addressOf(subnet, ADDRESSES - 1);
        expect(last).toBe(subnet.base + 2 ** 12 - 2);
        expect(gatewayOf(subnet)).toBeLessThan(addressOf(subnet, 0));
      }),
    );
  });

  test('is another one for another instance, and none when nothing is free', () => {
    expect(chooseSubnet('a', [])).not.toEqual(chooseSubnet('b', []));
    expect(chooseSubnet('a', [])).toEqual(chooseSubnet('a', []));
    expect(chooseSubnet('a', [block('10.0.0.0/8')])?.base).toBeGreaterThan(block('100.0.0.0/8').base);
    expect(chooseSubnet('a', [block('0.0.0.0/1'), block('128.0.0.0/1')])).toBeUndefined();
  });
});

test('routes are read as the kernel prints them', () => {
  const table = `Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
tun0\t0000000A\t0100C80A\t0003\t0\t0\t0\t000000FF\t0\t0\t0
`;
  expect(
    readRoutes(table).map(({ device, block: it, connected }) => [device, formatBlock(it), connected]),
  ).toEqual([
    ['eth0', '192.0.2.0/24', true],
    ['tun0', '10.0.0.0/8', false],
  ]);
});

describe('the name servers that boxes are answered from', () => {
  test.each<[string, string, string[]]>([
    ['those of the host', 'nameserver 1.1.1.1\nnameserver  9.9.9.9\n', ['1.1.1.1', '9.9.9.9']],
    ['also one on the host itself', 'nameserver 127.0.0.53', ['127.0.0.53']],
    ['also one of IPv6', 'nameserver 2001:db8::1', ['2001:db8::1']],
    ['not what is no address', 'nameserver example.com\nnameserver };\n', []],
    ['not what is commented out', '# nameserver 1.1.1.1\n;nameserver 2.2.2.2', []],
    [
      'at most three',
      [1, 2, 3, 4].map((i) => `nameserver 9.9.9.${i}`).join('\n'),
      ['9.9.9.1', '9.9.9.2', '9.9.9.3'],
    ],
    ['none where none is known', '', []],
  ])('are %s', (_, text, expected) => {
    expect(hostNameServers(text).map(({ hostname }) => hostname)).toEqual(expected);
  });

  test('are those of the setting where there is one', () => {
    expect(nameServers(['127.0.0.1:5353', 'nonsense'])()).toEqual([{ hostname: '127.0.0.1', port: 5353 }]);
    expect(parseServer('[::1]:54')).toEqual({ hostname: '::1', port: 54 });
    expect(parseServer('1.2.3.4')).toEqual({ hostname: '1.2.3.4', port: 53 });
    expect(parseServer('1.2.3.4:0')).toBeUndefined();
  });
});

describe.skipIf(!findProgram('nft') || process.getuid?.() !== 0)('the rules', () => {
  const owned = { portPrefix: 'vtest', hardwareAddress: '02:00:00:00:00:01' };
  const box = {
    address: block('10.200.16.2').base,
    port: 'vtest0001',
    policy: {
      mode: 'whitelist' as const,
      allowCidrs: ['8.8.0.0/16', '8.8.8.0/24', '9.9.9.9/32'],
      allowHosts: ['example.com'],
    },
  };
  const learnt = [{ address: block('1.1.1.1').base, name: 'example.com', expiresMs: 1000 }];

  test.each([
    ['a bridge of ours', owned, ['192.0.2.0/24', '10.0.0.0/24']],
    ['a bridge of an engine', undefined, []],
  ])('are understood by nft for %s', (_, ours, connected) => {
    const table = 'svc_t';
    const base = ruleset({
      table,
      bridge: 'svct',
      subnet: block('10.200.16.0/20'),
      connected: connected.map(block),
      dnsPort: 5353,
      owned: ours,
    });
    const changes = [
      boxLines(table, box, learnt),
      forgottenLines(table, box.address, learnt),
      goneLines(table, { ...box, policy: { ...box.policy, mode: 'allow' } }, learnt),
    ];
    const check = Bun.spawnSync(['nft', '-c', '-f', '-'], { stdin: Buffer.from(base + changes.join('')) });
    expect(check.stderr.toString()).toBe('');
    expect(check.exitCode).toBe(0);
  });
});

test('chains of others that drop forwarded packets are found', () => {
  const text = `table ip filter {
	chain INPUT {
		type filter hook input priority filter; policy drop;
	}
	chain FORWARD {
		type filter hook forward priority filter; policy drop;
	}
}
table inet own {
	chain forward {
		type filter hook forward priority filter; policy drop;
	}
}
table inet other {
	chain forward {
		type filter hook forward priority filter; policy accept;
	}
}
`;
  expect(parseDrops(text, 'own')).toEqual({ forward: ['ip filter FORWARD'], input: ['ip filter INPUT'] });
  expect(parseDrops('', 'own')).toEqual({ forward: [], input: [] });
});

describe('places in the subnet', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'svc-leases-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test('are handed out once, also by two daemons', async () => {
    const [one, two] = [new Leases(join(dir, 'a')), new Leases(join(dir, 'a'))];
    const places = Array.from({ length: 50 }, (_, i) => (i % 2 ? one : two).take());
    expect(new Set(places).size).toBe(50);
    one.release(places[3] ?? -1);
    expect(await readdir(join(dir, 'a'))).toHaveLength(49);
  });

  test('are not handed out again right away, and come back when no box has them', async () => {
    const leases = new Leases(join(dir, 'b'));
    const [first, second] = [leases.take(), leases.take()];
    leases.release(first ?? -1);
    expect(leases.take()).toBe(2);
    leases.keepOnly(new Set([second ?? -1]));
    expect(await readdir(join(dir, 'b'))).toEqual([String(second)]);
  });
});
