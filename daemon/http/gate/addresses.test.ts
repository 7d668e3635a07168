import { describe, expect, test } from 'bun:test';
import { hostHeaders, hostName, isLocalNetwork, isLoopback } from './addresses.ts';

describe('a local network', () => {
  test.each([
    ['localhost', true],
    ['app.localhost', true],
    ['a.b.localhost', true],
    ['127.0.0.1', true],
    ['127.255.255.254', true],
    ['::1', true],
    ['10.0.0.1', true],
    ['10.255.255.255', true],
    ['172.16.0.1', true],
    ['172.31.255.255', true],
    ['192.168.0.1', true],
    ['100.64.0.1', true],
    ['100.127.255.255', true],
    ['9.255.255.255', false],
    ['11.0.0.0', false],
    ['172.15.255.255', false],
    ['172.32.0.0', false],
    ['192.167.1.1', false],
    ['192.169.1.1', false],
    ['100.63.255.255', false],
    ['100.128.0.0', false],
    ['169.254.1.1', false],
    ['8.8.8.8', false],
    ['localhost.example.com', false],
    ['notlocalhost', false],
    ['10.example.com', false],
    ['10.0.0.1.example.com', false],
    ['10.0.0.256', false],
    ['0x7f.0.0.1', false],
    ['', false],
  ])('%p: %p', (host, expected) => {
    expect(isLocalNetwork(host)).toBe(expected);
  });
});

test.each([
  ['127.0.0.1', true],
  ['::ffff:127.0.0.1', true],
  ['::1', true],
  ['localhost', true],
  ['app.localhost', false],
  ['128.0.0.1', false],
  ['0.0.0.0', false],
])('loopback %p: %p', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

test.each([
  ['Localhost:8089', 'localhost'],
  ['localhost', 'localhost'],
  ['[::1]:8089', '::1'],
  ['[::1]', '::1'],
  ['10.0.0.1:80', '10.0.0.1'],
  ['', ''],
  ['a:b:c', ''],
])('the name of the host %p is %p', (header, expected) => {
  expect(hostName(header)).toBe(expected);
});

test.each([
  ['localhost', 8089, ['localhost:8089']],
  ['::1', 8089, ['[::1]:8089']],
  ['Svc.LAN', 80, ['svc.lan', 'svc.lan:80']],
])('%p on %p stands in the Host header as %p', (host, port, expected) => {
  expect(hostHeaders(host, port)).toEqual(expected);
});
