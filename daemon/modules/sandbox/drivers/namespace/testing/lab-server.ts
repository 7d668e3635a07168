/** What answers on the lab's internet: `hello` on TCP ports 80 and 53, and an echo on UDP port 53. */
function greet(socket: Bun.Socket): void {
  socket.write('hello\n');
  socket.end();
}

for (const port of [80, 53])
  Bun.listen({ hostname: '0.0.0.0', port, socket: { open: greet, data: () => {}, error: () => {} } });
await Bun.udpSocket({
  port: 53,
  hostname: '0.0.0.0',
  socket: {
    data(socket, bytes, port, address) {
      socket.send(`echo ${bytes.toString()}`, port, address);
    },
  },
});
console.log('ready');

export {};
