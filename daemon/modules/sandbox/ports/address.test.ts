import { describe, expect, test } from 'bun:test';
import { Config } from '../../../config/config.ts';
import { PreviewAddresses } from './address.ts';

const TOKEN = 'abcdefghijklmnopqrstuvwxyz234567';

function addresses(host = '', port = 8089): PreviewAddresses {
  const flags = { 'data.dir': '/nonexistent', 'sandbox.preview_host': host };
  return new PreviewAddresses(new Config({ flags, env: {} }), () => port);
}

test.each([
  ['', `http://3000-${TOKEN}.preview.localhost:8089/`],
  ['dev.localhost:9000', `http://3000-${TOKEN}.dev.localhost:9000/`],
  ['previews.example.com', `https://3000-${TOKEN}.previews.example.com/`],
  ['Previews.Example.com:8443/', `https://3000-${TOKEN}.previews.example.com:8443/`],
  ['http://previews.lan', `http://3000-${TOKEN}.previews.lan/`],
])('with the setting %j a port is at %s', (setting, url) => {
  expect(addresses(setting).url({ port: 3000, token: TOKEN })).toBe(url);
});

describe('a Host header', () => {
  test.each([
    [`3000-${TOKEN}.preview.localhost:8089`, 3000],
    [`3000-${TOKEN}.preview.localhost`, 3000],
    [`3000-${TOKEN.toUpperCase()}.PREVIEW.localhost:8089`, 3000],
    [`${TOKEN}-3000.preview.localhost:8089`, 3000],
    [`65535-${TOKEN}.preview.localhost:8089`, 65_535],
  ])('%s names a port', (host, port) => {
    expect(addresses().read(host)).toEqual({ port, token: TOKEN });
  });

  test.each([
    `65536-${TOKEN}.preview.localhost`,
    `03000-${TOKEN}.preview.localhost`,
    `3000-${TOKEN}a.preview.localhost`,
    `3000-${TOKEN.slice(1)}.preview.localhost`,
    `x.3000-${TOKEN}.preview.localhost`,
    'x.preview.localhost',
    'preview.localhost:8089',
    'localhost:8089',
    '127.0.0.1:8089',
    '',
    `3000-${TOKEN}.preview.localhost.evil.example`,
    `3000-${TOKEN}.xpreview.localhost`,
    `3000-${TOKEN}preview.localhost`,
    `3000-${TOKEN}.preview.localhost:8089@evil.example`,
  ])('%j names none', (host) => {
    expect(addresses().read(host)).toBeUndefined();
  });
});

test.each(['a b', 'previews.example.com/path', 'user@host.example', '127.0.0.1'])(
  'the setting %j is refused at the start',
  (setting) => {
    expect(() => addresses(setting)).toThrow('sandbox.preview_host');
  },
);
