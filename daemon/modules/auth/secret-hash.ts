/** SHA-256 of a secret of 256 random bits, in hex: how it is kept. Such a secret needs no slow hash. */
export function hashSecret(secret: string): string {
  return new Bun.CryptoHasher('sha256').update(secret).digest('hex');
}
