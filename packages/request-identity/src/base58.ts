/** Digits without those that people mix up; the order is Bitcoin's. */
const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base 58 of a big-endian number; each leading zero byte stays a digit of its own. Quadratic: for keys, not for payloads. */
export function encodeBase58(bytes: Uint8Array): string {
  let number = 0n;
  for (const byte of bytes) number = (number << 8n) | BigInt(byte);
  let text = '';
  for (; number > 0n; number /= 58n) text = DIGITS.charAt(Number(number % 58n)) + text;
  const firstDigit = bytes.findIndex((byte) => byte !== 0);
  const zeros = firstDigit < 0 ? bytes.length : firstDigit;
  return '1'.repeat(zeros) + text;
}
