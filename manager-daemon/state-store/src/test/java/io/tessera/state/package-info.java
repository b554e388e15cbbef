/** Tests of the store on Chronicle Map, some in processes that are killed or lack the flags. */
package io.tessera.state;
