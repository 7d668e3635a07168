import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { team } from '../src/api/auth/team.ts';
import type { Role } from '../src/api/endpoint.ts';
import { sandboxLifecycle } from '../src/api/sandbox/lifecycle.ts';
import { sandboxSsh } from '../src/api/sandbox/ssh.ts';
import { type Client, createClient } from '../src/client/client.ts';
import { driverCases } from './support/drivers.ts';
import { newSandbox } from './support/scene.ts';
import { OpenSsh } from './support/ssh/openssh.ts';
import { type Person, TwoTenants } from './support/tenants/two-tenants.ts';

/** Somebody with a client, and a key that is registered. */
interface Somebody {
  readonly person: Person;
  readonly client: Client;
  /** Path of the private key. */
  readonly key: string;
}

/** Any one driver: who may come in is decided before it. */
describe.skipIf(driverCases.length === 0)('SSH and the people of two tenants', () => {
  let tenants: TwoTenants;
  let ssh: OpenSsh;
  let ada: Somebody;
  let mel: Somebody;
  let sam: Somebody;
  let box: string;
  let samsBox: string;

  beforeAll(async () => {
    tenants = await TwoTenants.start({ env: { ...driverCases[0]?.env, SVC_SSH_PORT: '0' } });
    const member = (login: string, role: Role) => tenants.member(login, role);
    const [owner, mate, stranger] = [
      await member('ada', 'owner'),
      await member('mel', 'member'),
      await tenants.stranger('sam'),
    ];
    const client = await clientOf(owner);
    box = await newSandbox(client, { name: 'box', sshEnabled: true });
    const info = await client.call(sandboxSsh.GetSandboxSSHInfo, { params: { sandboxId: box } });
    ssh = new OpenSsh({ host: '127.0.0.1', port: info.port ?? 0, hostKey: info.hostKey ?? '' });
    [ada, mel, sam] = [await somebody(owner), await somebody(mate), await somebody(stranger)];
    samsBox = await newSandbox(sam.client, { name: 'box', sshEnabled: true });
  }, 60_000);
  afterAll(async () => {
    for (const [{ client }, sandboxId] of [
      [ada, box],
      [sam, samsBox],
    ] as const)
      await client.call(sandboxLifecycle.TerminateSandbox, { params: { sandboxId }, body: {} });
    ssh.close();
    await tenants.stop();
  });

  const clientOf = async ({ session }: Person) => {
    const { key } = await tenants.key(tenants.fromPage(session), { type: 'API_KEY_TYPE_USER' });
    return createClient({ url: tenants.daemon.url, apiKey: key });
  };
  const somebody = async (person: Person): Promise<Somebody> => {
    const [client, key] = [await clientOf(person), await ssh.newKey('ed25519')];
    const publicKey = readFileSync(`${key}.pub`, 'utf8');
    await client.call(sandboxSsh.AddSSHKey, { body: { publicKey } });
    return { person, client, key };
  };
  let sources = 30;
  /** Each attempt from an address of its own, so that refusals of one test do not slow the next. */
  const as = ({ key }: Somebody, user: string) => {
    const from = ssh.from(`127.0.5.${sources++}`);
    return from.ssh(user, ['echo in'], from.withKey(key));
  };

  test('whoever made a sandbox enters it with the key, by name, and each tenant’s name is its own', async () => {
    expect((await as(ada, 'box')).stdout).toBe('in\n');
    expect((await as(sam, 'box')).stdout).toBe('in\n');
    expect((await as(sam, samsBox)).stdout).toBe('in\n');
  });

  test('nobody enters a sandbox of another tenant, by its id either', async () => {
    expect((await as(sam, box)).code).toBe(255);
    expect((await as(ada, samsBox)).code).toBe(255);
  });

  test('every operation on another tenant’s sandbox is 404, and its keys are not seen', async () => {
    const params = { sandboxId: box };
    const { client } = sam;
    const token = await ada.client.call(sandboxSsh.CreateSshToken, { params, body: {} });
    const { keys = [] } = await ada.client.call(sandboxSsh.ListSSHKeys);
    const attempts = [
      client.call(sandboxSsh.GetSandboxSSHInfo, { params }),
      client.call(sandboxSsh.SetSandboxSSH, { params, body: { enabled: false } }),
      client.call(sandboxSsh.GrantSandboxSSHAccess, { params, body: { userId: sam.person.userId } }),
      client.call(sandboxSsh.RevokeSandboxSSHAccess, { params: { ...params, userId: ada.person.userId } }),
      client.call(sandboxSsh.CreateSshToken, { params, body: {} }),
      client.call(sandboxSsh.ListSshTokens, { params }),
      client.call(sandboxSsh.RevokeSshToken, { params: { ...params, tokenId: token.id } }),
      client.call(sandboxSsh.RevokeSshToken, { params: { sandboxId: samsBox, tokenId: token.id } }),
      client.call(sandboxSsh.ListSSHKeys, { query: { userId: ada.person.userId } }),
      client.call(sandboxSsh.DeleteSSHKey, { params: { keyId: keys[0]?.id ?? '' } }),
    ];
    const answers = await Promise.allSettled(attempts);
    const codes = answers.map((one) => (one.status === 'rejected' ? one.reason.http : 'answered'));
    expect(codes).toEqual(Array(attempts.length).fill(404));
    expect((await ssh.ssh(token.token ?? '', ['echo in'])).stdout).toBe('in\n');
  });

  test('a member enters a colleague’s sandbox when granted, and no longer when that is withdrawn', async () => {
    const params = { sandboxId: 'box' };
    const { userId } = mel.person;
    expect((await as(mel, 'box')).code).toBe(255);
    await ada.client.call(sandboxSsh.GrantSandboxSSHAccess, {
      params,
      body: { userId, grantedBy: ada.person.userId },
    });
    expect((await as(mel, 'box')).stdout).toBe('in\n');
    const child = ssh.start('box', ['echo in; cat'], ssh.withKey(mel.key));
    await child.stdout.getReader().read();
    await ada.client.call(sandboxSsh.RevokeSandboxSSHAccess, { params: { ...params, userId } });
    expect(await child.exited).toBe(255);
    expect((await as(mel, 'box')).code).toBe(255);
  });

  test('whoever leaves the team is put out, with the tokens that the person made', async () => {
    const params = { sandboxId: 'box' };
    const { userId } = mel.person;
    await ada.client.call(sandboxSsh.GrantSandboxSSHAccess, { params, body: { userId } });
    const { token } = await mel.client.call(sandboxSsh.CreateSshToken, { params, body: {} });
    const children = [
      ssh.start('box', ['echo in; cat'], ssh.withKey(mel.key)),
      ssh.start(token, ['echo in; cat']),
    ];
    for (const { stdout } of children) await stdout.getReader().read();
    await ada.client.call(team.RemoveTeamMember, { params: { userId } });
    expect(await Promise.all(children.map(({ exited }) => exited))).toEqual([255, 255]);
    expect((await as(mel, 'box')).code).toBe(255);
    expect((await ssh.from('127.0.5.9').ssh(token, ['true'])).code).toBe(255);
  }, 30_000);
});
