/**
 * A value for a label from what a user or the cluster wrote. The text format escapes all but half a surrogate pair, which
 * no UTF-8 has: two of them would become the same series, and Prometheus would refuse all of them.
 */
export const label = (text: string): string => text.toWellFormed();
