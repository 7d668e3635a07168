import { IMPATIENT, openInstance, TENANT } from './instance.ts';

/**
 * A daemon as far as lifecycle webhooks go: `<database> <receiver's URL> <events to record>`. Says as JSON which
 * sandboxes it has recorded an event of, once that is on the disk, and how many deliveries wait.
 */
const [path = '', url = '', count = '0'] = process.argv.slice(2);
const { store, service, dispatcher, record } = openInstance(path, IMPATIENT);
if (service.list(TENANT).length === 0) service.create(TENANT, { url, secret: 'secret' });
dispatcher.start();
console.log(JSON.stringify({ port: 1 }));

const [endpoint] = service.list(TENANT);
const waiting = () => store.countWaiting(endpoint?.id ?? '');
for (let i = 0; i < Number(count); i++) {
  const id = `sbx_${crypto.randomUUID()}`;
  record(id);
  console.log(JSON.stringify({ recorded: id }));
  if (i % 20 === 0) await Bun.sleep(1);
}
for (;;) {
  console.log(JSON.stringify({ waiting: waiting() }));
  await Bun.sleep(100);
}
