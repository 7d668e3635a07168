import S3rver from 's3rver';

/** An S3 server with two buckets, in a process of its own: `bun s3-server.ts FOLDER` says its port. Its key is S3RVER, its secret too. */
const [, , directory = ''] = process.argv;
const server = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory,
  configureBuckets: [
    { name: 'data', configs: [] },
    { name: 'other', configs: [] },
  ],
});
const { port } = await server.run();
process.stdout.write(`${JSON.stringify({ port })}\n`);
