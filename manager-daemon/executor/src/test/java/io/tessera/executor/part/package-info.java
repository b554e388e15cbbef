/** Tests of parts of the processors. */
package io.tessera.executor.part;
