/**
 * Returns a label value from text of a user or the cluster. The text format escapes everything
 * except lone surrogates, which UTF-8 cannot encode. Two such values would become the same series,
 * and Prometheus would reject the whole scrape.
 */
export const label = (text: string): string => text.toWellFormed();
