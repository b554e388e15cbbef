/** Tests of the stores, some in processes that are killed. */
package io.tessera.guardian.state;
