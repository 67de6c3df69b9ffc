import { StowageError } from './errors.ts';

/** Powers of suffixes. Exponents are parsed before: `1E` is exa, `1E3` a thousand. */
const BINARY: Record<string, bigint> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };
const DECIMAL: Record<string, number> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

const NUMBER = /^(?<sign>[+-]?)(?<whole>[0-9]*)(?:\.(?<fraction>[0-9]*))?(?<suffix>.*)$/s;
const EXPONENT = /^[eE](?<exponent>[+-]?[0-9]+)$/;

/** Limits of plausible sizes: raising ten to a larger exponent would exhaust memory. */
const MAX_EXPONENT = 100;
const MAX_LENGTH = 256;

/**
 * Returns the bytes of a Kubernetes quantity, in all notations of apimachinery's
 * resource.ParseQuantity: sign, decimals (`.5`, `5.`), binary and decimal suffixes, exponents.
 * Fractions of a byte are rounded away from zero, as in Quantity.Value(). Unlike there, large
 * binary numbers are not silently capped at 2^63-1. Throws StowageError with the text.
 */
export function parseQuantity(text: string | number): bigint {
  const written = String(text);
  const { sign, whole = '', fraction = '', suffix = '' } = NUMBER.exec(written)?.groups ?? {};
  if (whole + fraction === '' || written.length > MAX_LENGTH) throw notAQuantity(written);
  const scale = scaleOf(suffix);
  if (scale === undefined) throw notAQuantity(written);
  const value = scaled(BigInt(whole + fraction) << scale.two, scale.ten - fraction.length);
  return sign === '-' ? -value : value;
}

/** Returns the factor of a suffix as powers of two and of ten; undefined if it is no suffix. */
function scaleOf(suffix: string): { two: bigint; ten: number } | undefined {
  const exponent = EXPONENT.exec(suffix)?.groups?.exponent;
  if (exponent !== undefined) {
    const ten = Number(exponent);
    return Math.abs(ten) > MAX_EXPONENT ? undefined : { two: 0n, ten };
  }
  const two = Object.hasOwn(BINARY, suffix) ? BINARY[suffix] : undefined;
  if (two !== undefined) return { two, ten: 0 };
  const ten = Object.hasOwn(DECIMAL, suffix) ? DECIMAL[suffix] : undefined;
  return ten === undefined ? undefined : { two: 0n, ten };
}

/** Returns `value` times a power of ten, rounded up. */
function scaled(value: bigint, ten: number): bigint {
  if (ten >= 0) return value * 10n ** BigInt(ten);
  const divisor = 10n ** BigInt(-ten);
  return (value + divisor - 1n) / divisor;
}

function notAQuantity(text: string): StowageError {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return new StowageError('failed', `${JSON.stringify(shown)} is not a quantity`, {
    hint: 'Use a number with a Kubernetes suffix, such as 10Gi, 500M or 1.5Ti.',
  });
}

/** Formats bytes as a quantity, with the largest binary suffix that leaves a whole number. */
export function formatBytes(bytes: bigint): string {
  if (bytes === 0n) return '0';
  const fitting = Object.entries(BINARY).findLast(([, power]) => bytes % (1n << power) === 0n);
  return fitting === undefined ? String(bytes) : `${bytes >> fitting[1]}${fitting[0]}`;
}
