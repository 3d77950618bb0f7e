/* Before the C library: plugins of the MPI library stay where they are. So what they still point to is no leak, and
 * frames of what is one have names for tests/lsan.supp a few calls up. */
int dlclose(void* handle) {
  (void)handle;
  return 0;
}
