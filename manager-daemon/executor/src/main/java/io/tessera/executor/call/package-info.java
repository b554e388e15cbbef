/**
 * CALL records: driver calls that clients name. {@link io.tessera.executor.call.CallTable} has a row for each, which states everything that is special
 * about it; the packages below this one enter the rows, each those of its family.
 */
package io.tessera.executor.call;
