import { LAB } from './network-lab.ts';

/** What answers on the lab's internet: `hello` on TCP ports 80 and 53, and an echo on UDP port 53. */
function greet(socket: Bun.Socket): void {
  socket.write('hello\n');
  socket.end();
}

for (const port of [80, 53])
  Bun.listen({ hostname: '0.0.0.0', port, socket: { open: greet, data: () => {}, error: () => {} } });
// An answer must come from the address that was asked: one socket for each.
for (const hostname of [LAB.resolver, LAB.lan, LAB.metadata])
  await Bun.udpSocket({
    port: 53,
    hostname,
    socket: {
      data(socket, bytes, port, address) {
        socket.send(`echo ${bytes.toString()}`, port, address);
      },
      // An asker that has left answers that its port is closed: the next one is served all the same.
      error: () => {},
    },
  });
console.log('ready');
