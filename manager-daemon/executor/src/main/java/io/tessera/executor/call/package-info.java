/**
 * CALL records: the driver calls of clients. {@link io.tessera.executor.call.CallTable} has a row for each, which states everything that is special about it;
 * the packages below this one add the rows of their families.
 */
package io.tessera.executor.call;
