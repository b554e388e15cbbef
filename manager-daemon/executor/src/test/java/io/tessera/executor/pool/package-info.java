/** Tests of stream-ordered memory. */
package io.tessera.executor.pool;
