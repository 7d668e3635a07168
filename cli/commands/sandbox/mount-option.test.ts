import { expect, test } from 'bun:test';
import { objectMounts } from './mount-option.ts';

test.each([
  ['type=s3,bucket=b,path=/data', { type: 's3', bucket: 'b', mountPath: '/data' }],
  [
    'path=/m,type=azure,bucket=b,subpath=a/b',
    { type: 'azure', bucket: 'b', mountPath: '/m', subpath: 'a/b' },
  ],
  [
    'type=r2,bucket=b,path=/d,endpoint=https://x.example:1/?a=b',
    { type: 'r2', bucket: 'b', mountPath: '/d', endpoint: 'https://x.example:1/?a=b' },
  ],
])('%s', (text, expected) => expect(objectMounts(text)).toEqual([expected] as never));

test('several are collected', () =>
  expect(
    objectMounts('type=gcs,bucket=b,path=/b', objectMounts('type=s3,bucket=a,path=/a')).map(
      ({ bucket }) => bucket,
    ),
  ).toEqual(['a', 'b']));

test.each([
  '',
  'data:/data',
  'type=s3,bucket=b',
  'type=s3,path=/data',
  'bucket=b,path=/data',
  'type=ftp,bucket=b,path=/data',
  'type=s3,type=s3,bucket=b,path=/data',
  'type=s3,bucket=b,path=/data,key=secret',
  'type=s3,bucket=,path=/data',
])('%j is refused', (text) => expect(() => objectMounts(text)).toThrow('type=s3,bucket=NAME'));
