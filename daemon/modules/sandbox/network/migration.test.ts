import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../../../../migrations/index.ts';
import { openDatabase } from '../../../db/open.ts';
import { policyOf } from '../drivers/network/policy.ts';

const dir = mkdtempSync(join(tmpdir(), 'svc-network-db-'));
afterAll(() => rmSync(dir, { recursive: true }));

const INSERT = `INSERT INTO sandboxes (id, tenant, session_id, name, backend, state, config, labels, created_at, updated_at)
  VALUES (?, 't', 's', '', 'namespace', 'running', ?, '{}', 0, 0)`;

test('the words of older rows become policies, and nothing else of them changes', () => {
  const path = join(dir, 'svc.db');
  const policy = { mode: 'whitelist', allowCidrs: [], allowHosts: ['a.test'] };
  const before = openDatabase(
    path,
    migrations.filter(({ version }) => version < 8),
  );
  const rows: Array<[id: string, config: object]> = [
    ['allowed', { image: 'host', network: 'allow', env: { A: 'b' } }],
    ['denied', { image: 'host', network: 'deny' }],
    ['unsaid', { image: 'host' }],
    ['newer', { image: 'host', network: policy }],
  ];
  for (const [id, config] of rows) before.raw.query(INSERT).run(id, JSON.stringify(config));
  before.close();
  const after = openDatabase(path, migrations);
  const configOf = (id: string) => {
    const row = after.raw.query('SELECT config FROM sandboxes WHERE id = ?').get(id) as { config: string };
    return JSON.parse(row.config);
  };
  expect(configOf('allowed')).toEqual({ image: 'host', network: policyOf('allow'), env: { A: 'b' } });
  expect(configOf('denied')).toMatchObject({ network: policyOf('deny') });
  expect(configOf('unsaid')).toMatchObject({ network: policyOf('deny') });
  expect(configOf('newer')).toMatchObject({ network: policy });
  after.close();
});
