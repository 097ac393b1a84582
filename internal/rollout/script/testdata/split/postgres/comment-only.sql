-- nothing here
/* nor here; */
