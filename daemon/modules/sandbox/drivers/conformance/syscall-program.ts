const LOAD_ADDRESS = 0x400000n;
const HEADERS = 64 + 56;

/**
 * A static ELF program that makes one system call with zeros as arguments and exits with its errno (0 when
 * the call went through). It asks the kernel's filter directly, whatever programs an image has.
 */
export function syscallProgram(number: number): Uint8Array {
  const code = process.arch === 'arm64' ? arm64Code(number) : x64Code(number);
  const file = new Uint8Array(HEADERS + code.length);
  const view = new DataView(file.buffer);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  view.setUint16(16, 2, true);
  view.setUint16(18, process.arch === 'arm64' ? 183 : 62, true);
  view.setUint32(20, 1, true);
  view.setBigUint64(24, LOAD_ADDRESS + BigInt(HEADERS), true);
  view.setBigUint64(32, 64n, true);
  view.setUint16(52, 64, true);
  view.setUint16(54, 56, true);
  view.setUint16(56, 1, true);
  view.setUint32(64, 1, true);
  view.setUint32(68, 5, true);
  view.setBigUint64(80, LOAD_ADDRESS, true);
  view.setBigUint64(88, LOAD_ADDRESS, true);
  view.setBigUint64(96, BigInt(file.length), true);
  view.setBigUint64(104, BigInt(file.length), true);
  view.setBigUint64(112, 4096n, true);
  file.set(code, HEADERS);
  return file;
}

function x64Code(number: number): Uint8Array {
  const low = number & 0xff;
  const high = number >> 8;
  return new Uint8Array([
    ...[0xb8, low, high, 0, 0], // mov eax, number
    ...[0x31, 0xff, 0x31, 0xf6, 0x31, 0xd2], // xor edi, edi; xor esi, esi; xor edx, edx
    ...[0x4d, 0x31, 0xd2, 0x4d, 0x31, 0xc0, 0x4d, 0x31, 0xc9], // xor r10, r10; xor r8, r8; xor r9, r9
    ...[0x0f, 0x05], // syscall
    ...[0x89, 0xc7, 0xf7, 0xdf], // mov edi, eax; neg edi
    ...[0xb8, 60, 0, 0, 0, 0x0f, 0x05], // exit(edi)
  ]);
}

function arm64Code(number: number): Uint8Array {
  const words = [
    ...[0, 1, 2, 3, 4, 5].map((register) => 0xd2800000 + register), // mov x0..x5, #0
    0xd2800008 + number * 32, // mov x8, #number
    0xd4000001, // svc #0
    0xcb0003e0, // neg x0, x0
    0xd2800008 + 93 * 32, // mov x8, #93 (exit)
    0xd4000001, // svc #0
  ];
  const code = new Uint8Array(words.length * 4);
  const view = new DataView(code.buffer);
  for (const [i, word] of words.entries()) view.setUint32(i * 4, word, true);
  return code;
}
