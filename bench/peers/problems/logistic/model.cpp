#include <TMB.hpp>
template <class Type> Type objective_function<Type>::operator()() {
    DATA_VECTOR(y); DATA_MATRIX(X);
    PARAMETER(alpha); PARAMETER_VECTOR(beta);
    Type log_p = dnorm(alpha, Type(0), Type(2.5), true) + sum(dnorm(beta, Type(0), Type(2.5), true));
    vector<Type> eta = X * beta + alpha;
    for (int i = 0; i < y.size(); i++) log_p += dbinom_robust(y(i), Type(1), eta(i), true);
    ADREPORT(alpha); ADREPORT(beta);
    return -log_p;
}
