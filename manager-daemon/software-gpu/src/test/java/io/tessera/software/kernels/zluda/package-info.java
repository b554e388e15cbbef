/** ZLUDA's suite of single instructions. */
package io.tessera.software.kernels.zluda;
