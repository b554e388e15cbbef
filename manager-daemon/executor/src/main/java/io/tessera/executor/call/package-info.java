/**
 * CALL records: driver entries that clients name, with arguments that are copied, checked and translated by what is known
 * of the entry.
 */
package io.tessera.executor.call;
