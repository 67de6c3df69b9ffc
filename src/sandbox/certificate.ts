import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/**
 * Self-signed certificate for 127.0.0.1. kubectl sends its token over TLS only
 * (kubernetes/kubectl#744). Node.js can sign certificates but not build them, so this file
 * builds the few DER structures of RFC 5280. @peculiar/x509 would add 15 packages and a
 * polyfill of the global Reflect.
 */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
};
const ECDSA_SHA256 = Buffer.from('2a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('550403', 'hex');
const BASIC_CONSTRAINTS = Buffer.from('551d13', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('551d11', 'hex');
const DAY_MS = 86_400_000;

function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

function time(date: Date): Buffer {
  return der(TAG.time, Buffer.from(`${date.toISOString().replace(/\D/g, '').slice(0, 14)}Z`));
}

function extension(oid: Buffer, critical: boolean, value: Buffer): Buffer {
  const flag = critical ? [der(TAG.boolean, Buffer.from([0xff]))] : [];
  return der(TAG.sequence, der(TAG.oid, oid), ...flag, der(TAG.octets, value));
}

/** Returns a key and its certificate in PEM, valid from yesterday for ten years. */
export function selfSigned(now: Date): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(TAG.sequence, der(TAG.oid, ECDSA_SHA256));
  const commonName = der(
    TAG.sequence,
    der(TAG.oid, COMMON_NAME),
    der(TAG.utf8, Buffer.from('stowage-sandbox')),
  );
  const name = der(TAG.sequence, der(TAG.set, commonName));
  // Serial numbers are positive: the first byte must be from 0x01 to 0x7f.
  const serial = Buffer.concat([Buffer.from([0x01]), randomBytes(15)]);
  const address = Buffer.from([0x87, 4, 127, 0, 0, 1]);
  const certificate = der(
    TAG.sequence,
    der(0xa0, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serial),
    algorithm,
    name,
    der(
      TAG.sequence,
      time(new Date(now.getTime() - DAY_MS)),
      time(new Date(now.getTime() + 3650 * DAY_MS)),
    ),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      der(
        TAG.sequence,
        extension(
          BASIC_CONSTRAINTS,
          true,
          der(TAG.sequence, der(TAG.boolean, Buffer.from([0xff]))),
        ),
        extension(SUBJECT_ALT_NAME, false, der(TAG.sequence, address)),
      ),
    ),
  );
  const signature = sign('sha256', certificate, privateKey);
  const signed = der(
    TAG.sequence,
    certificate,
    algorithm,
    der(TAG.bits, Buffer.from([0]), signature),
  );
  const lines = signed.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}
