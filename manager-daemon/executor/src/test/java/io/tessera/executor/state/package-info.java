/** Tests of what the executor writes down. */
package io.tessera.executor.state;
