import { describe, expect, test } from 'bun:test';
import { type StoreType, storeMount, violations } from './mounts.ts';
import { placeOf, rootsOf } from './places.ts';
import { mountEnvironment, mountWords } from './program.ts';
import { remoteOf } from './remote.ts';
import { lastWords, shownWords } from './words.ts';

const S3 = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'secret-of-s3' };
const account = {
  type: 'service_account',
  client_email: 'a@b',
  private_key: 'secret-of-gcs',
  credential_source: { file: '/etc/shadow' },
};
const GCS = { GOOGLE_APPLICATION_CREDENTIALS_JSON: JSON.stringify(account) };
const AZURE = { AZURE_STORAGE_ACCOUNT: 'acc1', AZURE_STORAGE_KEY: 'secret-of-azure' };
const SAS = { AZURE_STORAGE_ACCOUNT: 'acc1', AZURE_STORAGE_SAS_TOKEN: '?sv=1&sig=secret-of%2Bsas' };

const mount = (more: object = {}) => ({ bucket: 'data', mountPath: '/data', ...more });
const fieldsOf = (type: StoreType, env: Record<string, string>, more: object = {}) =>
  [...violations(type, mount(more), env, 'mounts.0')].map(({ field }) => field);
const remote = (type: StoreType, env: Record<string, string>, more: object = {}) =>
  remoteOf(storeMount(type, mount(more)), env);

describe('what is wrong names the field', () => {
  test.each<[StoreType, Record<string, string>, object, string[]]>([
    ['s3', {}, {}, ['envVars.AWS_ACCESS_KEY_ID', 'envVars.AWS_SECRET_ACCESS_KEY']],
    ['s3', { AWS_ACCESS_KEY_ID: 'x' }, {}, ['envVars.AWS_SECRET_ACCESS_KEY']],
    ['s3', { ...S3, AWS_REGION: 'x/../y' }, {}, ['envVars.AWS_REGION']],
    ['s3', S3, { bucket: 'a/b' }, ['mounts.0.bucket']],
    ['s3', S3, { bucket: '..' }, ['mounts.0.bucket']],
    ['s3', S3, { bucket: 'a..b' }, ['mounts.0.bucket']],
    ['s3', S3, { bucket: '-a' }, ['mounts.0.bucket']],
    ['s3', S3, { endpoint: 'store:9000' }, ['mounts.0.endpoint']],
    ['s3', S3, { endpoint: 'ftp://x' }, ['mounts.0.endpoint']],
    ['s3', S3, { endpoint: 'http://user:word@x' }, ['mounts.0.endpoint']],
    ['s3', S3, { endpoint: 'http://x/?a=b' }, ['mounts.0.endpoint']],
    ['s3', S3, { endpoint: 'http://x:0' }, ['mounts.0.endpoint']],
    ['r2', S3, {}, ['mounts.0.endpoint']],
    ['gcs', {}, {}, ['envVars.GOOGLE_APPLICATION_CREDENTIALS_JSON']],
    [
      'gcs',
      { GOOGLE_APPLICATION_CREDENTIALS_JSON: '{' },
      {},
      ['envVars.GOOGLE_APPLICATION_CREDENTIALS_JSON'],
    ],
    [
      'gcs',
      { GOOGLE_APPLICATION_CREDENTIALS_JSON: '{"type":"external_account"}' },
      {},
      ['envVars.GOOGLE_APPLICATION_CREDENTIALS_JSON'],
    ],
    ['gcs', GCS, { endpoint: 'https://x' }, ['mounts.0.endpoint']],
    ['azure', {}, {}, ['envVars.AZURE_STORAGE_ACCOUNT', 'envVars.AZURE_STORAGE_KEY']],
    ['azure', { ...AZURE, AZURE_STORAGE_ACCOUNT: 'evil.example/' }, {}, ['envVars.AZURE_STORAGE_ACCOUNT']],
    ['azure', { ...SAS, AZURE_STORAGE_SAS_TOKEN: 'a b' }, {}, ['envVars.AZURE_STORAGE_SAS_TOKEN']],
    ['azure', AZURE, { endpoint: 'https://x' }, ['mounts.0.endpoint']],
    ['azure', AZURE, { bucket: 'Upper' }, ['mounts.0.bucket']],
    ['s3', S3, { endpoint: 'https://store.example:9000/' }, []],
    ['r2', S3, { endpoint: 'https://a.r2.cloudflarestorage.com' }, []],
    ['gcs', GCS, {}, []],
    ['gcs', S3, {}, []],
    ['azure', AZURE, {}, []],
    ['azure', SAS, {}, []],
  ])('%s %j %j', (type, env, more, fields) => expect(fieldsOf(type, env, more)).toEqual(fields));
});

describe('the store as the tool is told of it', () => {
  test('is that of the vendor without an endpoint, and any other with one', () => {
    expect(
      remote('s3', { ...S3, AWS_REGION: 'eu-west-1', AWS_SESSION_TOKEN: 't' }, { subpath: 'a/b' }),
    ).toEqual({
      path: 'store:data/a/b',
      env: {
        RCLONE_CONFIG_STORE_TYPE: 's3',
        RCLONE_CONFIG_STORE_PROVIDER: 'AWS',
        RCLONE_CONFIG_STORE_NO_CHECK_BUCKET: 'true',
        RCLONE_CONFIG_STORE_ENV_AUTH: 'false',
        RCLONE_CONFIG_STORE_REGION: 'eu-west-1',
        RCLONE_CONFIG_STORE_ACCESS_KEY_ID: 'AKIA',
        RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY: 'secret-of-s3',
        RCLONE_CONFIG_STORE_SESSION_TOKEN: 't',
      },
    });
    expect(remote('r2', S3, { endpoint: 'https://A.example/' }).env).toMatchObject({
      RCLONE_CONFIG_STORE_PROVIDER: 'Other',
      RCLONE_CONFIG_STORE_ENDPOINT: 'https://a.example',
      RCLONE_CONFIG_STORE_REGION: 'auto',
    });
    expect(remote('gcs', S3).env.RCLONE_CONFIG_STORE_ENDPOINT).toBe('https://storage.googleapis.com');
  });

  test('has of a service account only what opens the store: no file and no program of this host', () => {
    const { env } = remote('gcs', GCS);
    expect(env.RCLONE_CONFIG_STORE_TYPE).toBe('google cloud storage');
    expect(JSON.parse(env.RCLONE_CONFIG_STORE_SERVICE_ACCOUNT_CREDENTIALS ?? '')).toEqual({
      type: 'service_account',
      client_email: 'a@b',
      private_key: 'secret-of-gcs',
    });
  });

  test('is the container that a shared access signature is for', () => {
    expect(remote('azure', SAS).env).toEqual({
      RCLONE_CONFIG_STORE_TYPE: 'azureblob',
      RCLONE_CONFIG_STORE_SAS_URL: 'https://acc1.blob.core.windows.net/data?sv=1&sig=secret-of%2Bsas',
    });
    expect(remote('azure', AZURE).env).toMatchObject({
      RCLONE_CONFIG_STORE_ACCOUNT: 'acc1',
      RCLONE_CONFIG_STORE_KEY: 'secret-of-azure',
    });
  });
});

test.each<[StoreType, Record<string, string>]>([
  ['s3', S3],
  ['gcs', GCS],
  ['azure', AZURE],
  ['azure', SAS],
])('the secrets of %s are in the environment of the program and not in its words', (type, env) => {
  const spec = {
    remote: remote(type, env),
    place: placeOf(rootsOf('/d', 'i'), 'sbx_1', 0),
    owner: 7,
    proxyPort: 1,
  };
  expect(mountWords(spec).join(' ')).not.toContain('secret-of');
  expect(JSON.stringify(mountEnvironment(spec))).toContain('secret-of');
});

test('the program sees none of the variables of the daemon but where certificates are', () => {
  process.env.SVC_TEST_MARK = 'of the daemon';
  const names = Object.keys(mountEnvironment({ remote: remote('s3', S3), proxyPort: 3128 }));
  delete process.env.SVC_TEST_MARK;
  expect(names.filter((name) => /^(SVC|AWS)_/.test(name))).toEqual([]);
});

describe('what the program says', () => {
  test('is shown without the secrets that it was given, also where one is a part of another', () =>
    expect(shownWords('2026/01/02 03:04:05 ERROR : key=abcdefgh, abcd\n\n', ['abcd', 'abcdefgh'])).toEqual([
      'ERROR : key=[redacted], [redacted]',
    ]));
  test('is cut, line by line', () =>
    expect(shownWords(`${'x'.repeat(2_000)}\ny`, []).map(({ length }) => length)).toEqual([500, 1]));
  test('tells why it ended by the last line that is about a failure', () => {
    expect(lastWords('NOTICE: one\nFailed to lsf: denied\nexit', [])).toBe('Failed to lsf: denied');
    expect(lastWords('', [])).toBe('rclone did not say why');
  });
});
